//go:build tamago

package attach

import (
	"unsafe"

	"sonde/arch/amd64/trap"
	"sonde/kernel/cpu"
	"sonde/kernel/goruntime"
)

// CPU returns the CPU that the hit is on, from 0.
//
// Context: the handler.
func (h *Hit) CPU() int {
	if h.MayBlock {
		return cpu.ID()
	}
	return trap.ID(h.Regs)
}

// Time returns the time since boot, in nanoseconds.
//
// Context: the handler.
func (h *Hit) Time() int64 { return cpu.Nanotime() }

// Goid returns the number of the goroutine that was hit, or that the thread of a program runs in;
// 0: none, the hit is in the scheduler or in an interrupt.
//
// Context: the handler.
func (h *Hit) Goid() uint64 { return goruntime.Goid(h.g()) }

func (h *Hit) g() unsafe.Pointer {
	if h.MayBlock {
		return goruntime.Self()
	}
	return trap.G(h.Regs)
}
