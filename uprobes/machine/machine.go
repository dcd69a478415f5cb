// Package machine is what user probes need of the machine: its CPUs, and the memory and registers of the
// thread that is in a hit. So hits can be tested without one.
package machine

import (
	"sonde/arch/amd64"
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

	// For hits, in trap context.

	// CPU returns this CPU's number.
	CPU func() int
	// SaveVectors saves X0-X14 of the program that was hit.
	SaveVectors func(r *amd64.Regs)
	// LoadWord and its kin access the memory of the thread that was hit. Not ok: the goroutine has to make the
	// page accessible first; nothing has changed.
	LoadWord func(addr uint64) (v uint64, ok bool)
	LoadPair func(addr uint64) (first, second uint64, ok bool)
	SwapWord func(addr, v uint64) (old uint64, ok bool)
}
