//go:build tamago

package kprobes

// Trap context. The log asks on top of whom a handler logs (kernel/printk,
// echo_trap.go).

import (
	"unsafe"

	"sonde/arch/amd64/trap"
	"sonde/kernel/cpu"
	"sonde/kernel/goruntime"
)

// task returns the goroutine that is running, or that the hit interrupted whose
// handler is; 0 for none.
//
// Context: any.
func task() uintptr {
	if g := goruntime.Task(); g != 0 {
		return g
	}
	if st := &states[cpu.ID()].state; st.probe != 0 {
		return uintptr(unsafe.Pointer(trap.G(asRegs(st.frame))))
	}
	return 0
}
