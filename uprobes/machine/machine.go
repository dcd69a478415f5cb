// Package machine is what user probes need of the machine: its CPUs, and the memory and registers of the
// thread that is in a hit. So hits can be tested without one.
package machine

import (
	"sonde/arch/amd64"
	"sonde/probe/attach"
	"sonde/probe/glass"
)

// A Machine is what user probes ask the machine for.
type Machine struct {
	// Goroutine returns a number that identifies this goroutine.
	Goroutine func() uint64
	// InTrap reports whether this is a handler in trap context, of a kernel probe or of a program's.
	InTrap func() bool
	// Shoot is glass.Film.ShootThread.
	// Context: trap, or goroutine.
	Shoot func(film *glass.Film, r *amd64.Regs, stage glass.Stage, place uintptr, of glass.Thread) (*glass.Frame, int)
	// Reason says why a handler has been abandoned just now.
	// Context: trap, or goroutine.
	Reason func(to *[64]byte)

	// Fuses reports whether handlers may be put into the code of breakpoints. Stub makes such code, for the breakpoint at ip;
	// its hits are counted at count from GS, and the program continues moves bytes after the breakpoint. give gives its memory
	// back. Without, hits continue at Known. Stub may be nil.
	Fuses func() bool
	Stub  func(h attach.Fuser, ip uint64, count, moves int32) (code uintptr, give func(), err error)
	Known uintptr

	// For hits, in trap context: CPU returns this CPU's number.
	CPU func() int
	Program
}

// Program is the program that was hit, as the code of hits accesses it.
type Program struct {
	// SaveVectors saves X0-X14, for a handler that may change them.
	SaveVectors func(r *amd64.Regs)
	// LoadWord and its kin access memory. Not ok: the program could not, or in the trap, the goroutine has to make
	// the page accessible first; nothing has changed.
	LoadWord func(addr uint64) (v uint64, ok bool)
	LoadPair func(addr uint64) (first, second uint64, ok bool)
	SwapWord func(addr, v uint64) (old uint64, ok bool)
}
