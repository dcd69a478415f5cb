//go:build tamago

// Package smp runs functions on other CPUs, and stops the machine.
//
// The calling CPU, too, runs the function in interrupt context: it raises a software
// interrupt. Turning interrupts off in a goroutine would not be enough, because the stack
// check of the next function may call the scheduler, which would give the CPU to another
// goroutine with interrupts off.
package smp

import (
	"sync"
	"sync/atomic"

	"sonde/arch/amd64"
	"sonde/arch/amd64/trap"
	"sonde/kernel/cpu"
	"sonde/kernel/tape"
)

// vecSelf is the software interrupt by which a goroutine gets into interrupt
// context on its own CPU.
const vecSelf = amd64.VecSelf

var (
	mu sync.Mutex // one call or stop at a time
	// guarded by mu; read in interrupt context:
	own  func(r *amd64.Regs) // what vecSelf does: callOthers or stopOthers
	call func()              // what CallAll makes the CPUs run
	// pending counts the CPUs that have not finished call.
	pending atomic.Int32
)

// Install takes the interrupts.
//
// Context: boot, before the runtime.
func Install() {
	trap.SetHandler(vecSelf, func(r *amd64.Regs) { own(r) })
	trap.SetInterrupt(amd64.VecCall, called)
	trap.SetInterrupt(amd64.VecStop, hold)
}

// raiseSelf is INT $vecSelf.
func raiseSelf()

func called(r *amd64.Regs) {
	cpu.EOI()
	callHere(r)
	pending.Add(-1)
}

// callHere makes this CPU, which r interrupted, run call.
func callHere(r *amd64.Regs) {
	call()
	if tape.On() {
		note(tape.Serialized, r.IP)
	}
}

// CallAll runs f on every CPU, in interrupt context, and returns when all have.
// A CPU takes it between instructions of its goroutine and outside every handler
// that runs with interrupts off.
func CallAll(f func()) {
	cpu.Forbid("calls all CPUs")
	mu.Lock()
	defer mu.Unlock()
	own, call = callOthers, f
	raiseSelf()
	call = nil
}

// callOthers is CallAll in interrupt context.
func callOthers(r *amd64.Regs) {
	pending.Store(int32(cpu.Num() - 1))
	sendOthers(amd64.VecCall)
	callHere(r)
	for pending.Load() != 0 {
		cpu.Pause()
	}
}

// note notes an event of this CPU for those who watch how code is changed.
func note(w tape.What, a uint64) { tape.Note(cpu.Rdtsc(), cpu.ID(), w, a, 0) }

// sendOthers sends interrupt v to every CPU but this.
func sendOthers(v uint8) {
	self := cpu.ID()
	for i := range cpu.Num() {
		if i != self {
			cpu.SendIPI(i, v)
		}
	}
}
