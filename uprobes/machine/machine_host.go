//go:build !tamago

package machine

import (
	"bytes"
	"runtime"
	"strconv"

	"sonde/arch/amd64"
	"sonde/probe/glass"
)

// Goroutine returns this goroutine's number, from the first line of its stack trace.
func Goroutine() uint64 {
	var b [64]byte
	f := bytes.Fields(b[:runtime.Stack(b[:], false)])
	n, _ := strconv.ParseUint(string(f[1]), 10, 64)
	return n
}

// InTrap reports whether this is a handler in trap context: tests set Trapped.
func InTrap() bool { return Trapped }

// Trapped is what InTrap returns.
var Trapped bool

// Shoot makes a frame with registers alone.
func Shoot(film *glass.Film, r *amd64.Regs, stage glass.Stage, place uintptr, of glass.Thread) (*glass.Frame, int) {
	f, n := film.Next()
	if f != nil {
		f.Stage, f.PID, f.TID = stage, int32(of.PID), int32(of.TID)
		if r != nil {
			f.SetRegs(r)
		}
	}
	return f, n
}

// Reason says why a handler has been abandoned just now.
func Reason(to *[64]byte) { copy(to[:], "it has not returned") }

// Nothing arrives in traps here.

func CPU() int                                             { return 0 }
func SaveVectors(*amd64.Regs)                              {}
func LoadWord(addr uint64) (uint64, bool)                  { return 0, false }
func LoadPair(addr uint64) (first, second uint64, ok bool) { return 0, 0, false }
func SwapWord(addr, v uint64) (uint64, bool)               { return 0, false }
