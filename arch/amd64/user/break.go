package user

import "unsafe"

// A Break is what the entry of #BP knows of a breakpoint of a program: it is at the beginning of what the entries of a
// table point to. Code is where a hit continues, with interrupts off and the kernel's GS, on the entry stack:
//
//	0 R13  8 R15  16 IP  24 CS  32 FLAGS  40 SP  48 SS
//
// R15 points to the Break; FS and all else are the program's. Known has the hit handled, also if R15 has 0 by then; other code
// ends by POPQ R13, POPQ R15, SWAPGS, IRETQ, and traps nowhere.
type Break struct {
	Addr   uintptr // of the breakpoint
	Behind uintptr // the address after it; 0: there is none
	Code   uintptr
}

// Breaks are the entries of a table of Breaks, hashed as trap.HashFactor says.
type Breaks struct {
	mask  uintptr        // 8 times their number, less 8
	first unsafe.Pointer // pointers to Breaks, none of which is nil
}

// NewBreaks returns n entries, a power of two, of which the first is there. A Break may be behind where its hash says, and
// is not found then.
func NewBreaks(first unsafe.Pointer, n int) *Breaks {
	return &Breaks{uintptr(n-1) * unsafe.Sizeof(first), first}
}
