//go:build !tamago

package uprobes

import (
	"bytes"
	"runtime"
	"strconv"
)

// goroutine returns this goroutine's number, from the first line of its stack trace.
func goroutine() uint64 {
	var b [64]byte
	f := bytes.Fields(b[:runtime.Stack(b[:], false)])
	n, _ := strconv.ParseUint(string(f[1]), 10, 64)
	return n
}

// inTrap reports whether this is a handler of a kernel probe: tests set it.
func inTrap() bool { return trapped }

var trapped bool
