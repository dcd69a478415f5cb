//go:build tamago

// Package smp runs functions on other CPUs.
package smp

import (
	"sync"
	"sync/atomic"

	"sonde/arch/amd64"
	"sonde/arch/amd64/trap"
	"sonde/kernel/cpu"
)

var (
	mu sync.Mutex // one call at a time
	// guarded by mu; read by the CPUs called:
	call func()
	// pending counts the CPUs that have yet to finish call.
	pending atomic.Int32
)

// Install takes the call interrupt.
//
// Context: boot, before the runtime.
func Install() { trap.SetHandler(cpu.VecCall, run) }

func run(*amd64.Regs) {
	cpu.EOI()
	call()
	pending.Add(-1)
}

// CallAll runs f on every CPU, in interrupt context on all but this one, and
// returns when all have. A CPU takes it between instructions of its goroutine
// and outside every handler, since handlers run with interrupts off.
//
// Context: goroutine. f runs with interrupts off.
func CallAll(f func()) {
	mu.Lock()
	defer mu.Unlock()
	flags := cpu.IRQOff() // stay on this CPU
	self := cpu.ID()
	call = f
	pending.Store(int32(cpu.Num() - 1))
	for i := 0; i < cpu.Num(); i++ {
		if i != self {
			cpu.SendIPI(i, cpu.VecCall)
		}
	}
	f()
	for pending.Load() != 0 {
		cpu.Pause()
	}
	cpu.IRQRestore(flags)
}
