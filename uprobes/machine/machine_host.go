//go:build !tamago

package machine

import (
	"bytes"
	"runtime"
	"strconv"

	"sonde/arch/amd64"
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

// Nothing arrives in traps here.

func CPU() int                                             { return 0 }
func Quiesce()                                             {}
func SaveVectors(*amd64.Regs)                              {}
func LoadWord(addr uint64) (uint64, bool)                  { return 0, false }
func LoadPair(addr uint64) (first, second uint64, ok bool) { return 0, 0, false }
func SwapWord(addr, v uint64) (uint64, bool)               { return 0, false }
