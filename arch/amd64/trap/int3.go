package trap

import (
	"sync/atomic"
	"unsafe"

	"sonde/arch/amd64"
)

// An Int3 is what the entry of #BP knows of an INT3: it is at the beginning of what the entries of the table point
// to. Code is where a hit continues, with interrupts off, on the entry stack:
//
//	0 R13  8 R15  16 IP  24 CS  32 FLAGS  40 SP  48 SS
//
// R15 points to the Int3, R13 has Addr, and the flags and the stack are in the frame. All else is the place's.
// Known calls the handler, also if R15 has 0 by then; other code ends by POPQ R13, POPQ R15, IRETQ, and traps nowhere.
type Int3 struct {
	Addr uintptr // of the INT3
	Code uintptr
}

// OnEntryStack is how many bytes above SP that entry stack has what a register had, by its hardware number.
var OnEntryStack = map[uint8]uint8{13: 0, 15: 8}

// A BreakpointHandler handles #BP. If at is nil, the entry has not found the Int3, and there may be none.
//
// Context: as Handler.
type BreakpointHandler func(r *amd64.Regs, at *Int3)

// How an address is hashed.
const (
	HashFactor = 0x61c88647
	HashShift  = 20
)

// The table: where its entries begin, pointers to Int3s of which none is nil; and 8 times their number, less 8.
var (
	breakpoints     = unsafe.Pointer(&noBreakpoints)
	breakpointsMask uintptr
	noBreakpoints   = &Int3{}
)

// SetBreakpoints makes the entry of #BP look into a table: n entries, a power of two and not fewer than before, the first
// of which is there. An Int3 may be after where its hash says, and is not found then.
//
// Context: one at a time.
func SetBreakpoints(first unsafe.Pointer, n int) {
	atomic.StorePointer(&breakpoints, first) // first: a CPU reads it after the mask
	atomic.StoreUintptr(&breakpointsMask, uintptr(n-1)*unsafe.Sizeof(first))
}
