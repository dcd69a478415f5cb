package targets

import (
	"sync"
	"unsafe"
)

// State is all that a shape can see and change, except SP.
type State struct {
	AX, BX, CX, DX, SI, DI, BP      uint64
	R8, R9, R10, R11, R12, R13      uint64
	R14, R15                        uint64
	Flags                           uint64
	X0, X1, X2, X3, X4, X5, X6, X7  [2]uint64
	X8, X9, X10, X11, X12, X13, X14 [2]uint64
	X15                             [2]uint64
}

// Words is how large Mem is.
const Words = 64

// Mem is the memory that shapes work on. Its qword i is i in every byte, but
// for qword Pointer, which holds the address of a function.
//
// A shape that is 16-byte aligned relies on the linker aligning large variables.
var Mem [Words]uint64

// Pointer is the index in Mem of callee's address.
const Pointer = 40

// mu is held while Mem and a State are in use.
var mu sync.Mutex

const (
	flagIF = 0x200
	flag1  = 2 // always set
)

// reset gives s and Mem what every shape starts from. Values of registers that
// mean nothing are all different.
func (s *State) reset() {
	word := func(b uint64) uint64 { return b * 0x0101010101010101 }
	for i := range Mem {
		Mem[i] = word(uint64(i))
	}
	Mem[Pointer] = uint64(entry(callee))
	*s = State{
		AX: 0x1122334455667788, BX: 3, CX: 4, DX: 0,
		SI: addr(&Mem[0]), DI: addr(&Mem[32]), BP: word(0xb5),
		R8: word(0xa8), R9: word(0xa9), R10: word(0xaa), R11: word(0xab),
		R12: Mem[Pointer], R13: word(0xad), R14: word(0xae), R15: word(0xaf),
		Flags: flagIF | flag1,
	}
	for i := range uint64(16) {
		lo := word(16*i) + 0x0706050403020100
		*s.xmm(i) = [2]uint64{lo, lo + word(8)}
	}
}

// xmm returns register Xi.
func (s *State) xmm(i uint64) *[2]uint64 {
	// Safe because: X0 to X15 are 16 consecutive fields of one type.
	return (*[2]uint64)(unsafe.Add(unsafe.Pointer(&s.X0), i*16))
}

func addr(p *uint64) uint64 { return uint64(uintptr(unsafe.Pointer(p))) }

// call loads all registers from s, calls the code at fn, and stores them in s.
//
//go:noescape
func call(fn uintptr, s *State)
