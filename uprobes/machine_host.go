//go:build !tamago

package uprobes

import (
	"bytes"
	"runtime"
	"strconv"
)

// goroutine returns the number of this goroutine: the stack's first line has it.
func goroutine() uint64 {
	var b [64]byte
	f := bytes.Fields(b[:runtime.Stack(b[:], false)])
	n, _ := strconv.ParseUint(string(f[1]), 10, 64)
	return n
}

// inTrap reports whether this is the handler of a probe of the kernel: tests say so.
func inTrap() bool { return trapped }

var trapped bool
