//go:build tamago

package machine

import (
	"sonde/arch/amd64"
	"sonde/arch/amd64/user"
	"sonde/kernel/cpu"
	"sonde/kernel/goruntime"
	"sonde/probe/glass"
	"sonde/probe/handler"
	"sonde/uprobes/place"
)

func init() {
	if place.Processor = place.Emulator; !cpu.Emulated() {
		place.Processor = place.MakerOf(amd64.Identify(cpu.CPUID).Vendor)
	}
}

// Goroutine returns a number that identifies this goroutine.
func Goroutine() uint64 { return uint64(goruntime.Task()) }

// InTrap reports whether this is a handler in trap context, of a kernel probe or of a program's.
func InTrap() bool { return cpu.InHandler() }

// CPU returns this CPU's number.
//
// Context: trap.
func CPU() int { return cpu.ID() }

// SaveVectors saves X0-X14 of the program that was hit.
//
// Context: trap.
func SaveVectors(r *amd64.Regs) { user.SaveVectors(r) }

// Shoot is glass.Film.ShootThread.
//
// Context: trap, or goroutine.
func Shoot(film *glass.Film, r *amd64.Regs, stage glass.Stage, place uintptr, of glass.Thread) (*glass.Frame, int) {
	return film.ShootThread(r, stage, place, of)
}

// Reason says why a handler has been abandoned just now.
//
// Context: trap, or goroutine.
func Reason(to *[64]byte) {
	if !InTrap() {
		copy(to[:], "it has not returned")
		return
	}
	handler.Reason(cpu.ID(), to)
}

// LoadWord and its kin are those of the thread's memory in a hit.
//
// Context: trap.
func LoadWord(addr uint64) (uint64, bool)                  { return user.LoadWord(addr) }
func LoadPair(addr uint64) (first, second uint64, ok bool) { return user.LoadPair(addr) }
func SwapWord(addr, v uint64) (uint64, bool)               { return user.SwapWord(addr, v) }
