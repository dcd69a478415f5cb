//go:build tamago

package uprobes

import (
	"sonde/arch/amd64"
	"sonde/arch/amd64/user"
	"sonde/kernel/cpu"
	"sonde/kernel/goruntime"
	"sonde/kernel/handler"
	"sonde/kernel/smp"
	"sonde/uprobes/place"
)

func init() {
	if place.Processor = place.Emulator; !cpu.Emulated() {
		place.Processor = place.MakerOf(amd64.Identify(cpu.CPUID).Vendor)
	}
}

// handlerState is what package handler sees of a CPU's state: Probe is the member whose handler runs.
type handlerState = handler.State

// goroutine returns a number that identifies this goroutine.
func goroutine() uint64 { return uint64(goruntime.Task()) }

// inTrap reports whether this is a handler in trap context, of a kernel probe or of a program's.
func inTrap() bool { return cpu.InHandler() }

// cpuID returns this CPU's number.
//
// Context: trap.
func cpuID() int { return cpu.ID() }

// quiesce returns when every CPU has been outside of all handlers in trap context: they have
// interrupts off.
func quiesce() { smp.CallAll(func() {}) }

// saveVectors saves X0-X14 of the program that was hit.
//
// Context: trap.
func saveVectors(r *amd64.Regs) { user.SaveVectors(r) }

// loadWord and its kin are those of the thread's memory in a hit.
//
// Context: trap.
func (th *thread) loadWord(addr uint64) (uint64, bool)                  { return user.LoadWord(addr) }
func (th *thread) loadPair(addr uint64) (first, second uint64, ok bool) { return user.LoadPair(addr) }
func (th *thread) swapWord(addr, v uint64) (uint64, bool)               { return user.SwapWord(addr, v) }
