//go:build !tamago

// Package lab6 changes code that other CPUs execute, in a model of a machine.
package lab6

// A Machine is what the protocols work on: five bytes of code, which other CPUs execute all the time.
type Machine interface {
	// Write writes bytes from an offset on. The bytes are stored one at a time, in any order. A CPU
	// may read what was there before, or what is there now, of each byte, until it synchronizes.
	Write(off int, bytes ...byte)
	// Sync returns when each CPU has synchronized. From then on they see what is in memory.
	Sync()
	// Wait returns when no CPU stands inside the five bytes: at an instruction that is not the first.
	Wait()
}

// Int3 is the breakpoint. A CPU that executes it continues somewhere else, after the five bytes.
const Int3 = 0xcc
