//go:build !tamago

package uprobes

import (
	"bytes"
	"runtime"
	"strconv"

	"sonde/arch/amd64"
)

// handlerState is as handler.State.
type handlerState struct {
	Probe uintptr
	Seq   uint64
	Frame uintptr
}

// goroutine returns this goroutine's number, from the first line of its stack trace.
func goroutine() uint64 {
	var b [64]byte
	f := bytes.Fields(b[:runtime.Stack(b[:], false)])
	n, _ := strconv.ParseUint(string(f[1]), 10, 64)
	return n
}

// cpuID returns the number of the CPU that tests hit probes on.
func cpuID() int { return 0 }

func saveVectors(*amd64.Regs) {}

// quiesce has nothing to wait for.
func quiesce() {}

func (th *thread) loadWord(addr uint64) (uint64, bool) {
	v, err := th.text.mem.LoadWord(addr)
	return v, err == nil
}

func (th *thread) loadPair(addr uint64) (first, second uint64, ok bool) {
	first, second, err := th.text.mem.LoadPair(addr)
	return first, second, err == nil
}

func (th *thread) swapWord(addr, v uint64) (uint64, bool) {
	old, err := th.text.mem.SwapWord(addr, v)
	return old, err == nil
}

// inTrap reports whether this is a handler in trap context: tests set it.
func inTrap() bool { return trapped }

var trapped bool
