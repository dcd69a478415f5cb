package vdso

import (
	"bytes"
	"unsafe"
)

// Offsets of the functions in the object. What lies in front of them is for linkers.
const (
	atClockGettime = 0x880 + slot*iota
	atGettimeofday
	atTime
	atClockGetres
	atGetcpu
	atEnd

	slot = 0x80 // bytes for each function
)

// A function is one that programs can call.
type function struct {
	name string
	at   int
	code []byte
}

// addresses returns where the functions are linked.
func addresses() (clockGettime, gettimeofday, time, clockGetres, getcpu unsafe.Pointer)

// functions are copied before main runs: later there may be a breakpoint in one.
var functions = copies()

func copies() []function {
	a, b, c, d, e := addresses()
	return []function{
		{"clock_gettime", atClockGettime, code(a)},
		{"gettimeofday", atGettimeofday, code(b)},
		{"time", atTime, code(c)},
		{"clock_getres", atClockGetres, code(d)},
		{"getcpu", atGetcpu, code(e)},
	}
}

// code returns the bytes of the function at p, up to its END.
func code(p unsafe.Pointer) []byte {
	// Safe because: what follows a function in the text of the program is text, too.
	b := unsafe.Slice((*byte)(p), slot+len(end))
	n := bytes.Index(b, end)
	if n < 0 {
		panic("vdso: a function is longer than its slot")
	}
	return bytes.Clone(b[:n])
}

// end is two UD2.
var end = []byte{0x0f, 0x0b, 0x0f, 0x0b}
