//go:build tamago

// Package stack finds the calls that led to a trap, on the stack of the goroutine that it interrupted.
package stack

// Trap context.

import (
	"sync/atomic"
	"unsafe"

	"sonde/arch/amd64"
	"sonde/arch/amd64/trap"
	"sonde/kernel/goruntime"
	"sonde/kernel/mm"
)

// original is what SetOriginal set.
var original atomic.Pointer[func(ip uintptr) uintptr]

// OriginalIP returns r's IP; in a copy that was made of code, where it is in the original.
//
// Context: trap.
func OriginalIP(r *amd64.Regs) uintptr {
	if f := original.Load(); f != nil {
		return (*f)(uintptr(r.IP))
	}
	return uintptr(r.IP)
}

// Callers stores where the code is that r interrupted, and which called it, all as return
// addresses, and returns how many.
//
// Context: trap.
func Callers(r *amd64.Regs, pcs []uintptr) int { return CallersOf(trap.G(r), r, pcs) }

// CallersOf is Callers for code on g's stack.
//
// Context: any, where g cannot run meanwhile.
func CallersOf(g unsafe.Pointer, r *amd64.Regs, pcs []uintptr) int { return callers(g, r, pcs, false) }

// LinesOf is CallersOf with an address for each call that was inlined, too: each has a line of its own, and the
// symbol of the function that it is in.
//
// Context: as CallersOf.
func LinesOf(g unsafe.Pointer, r *amd64.Regs, pcs []uintptr) int { return callers(g, r, pcs, true) }

func callers(g unsafe.Pointer, r *amd64.Regs, pcs []uintptr, inlined bool) int {
	if !walkable(r, g) {
		return leaf(r, pcs)
	}
	return goruntime.Callers(g, OriginalIP(r), uintptr(r.SP), pcs, inlined)
}

// leaf is CallersOf where the runtime cannot walk: on the stack of an idle CPU, and in assembly with frames of its own.
// It is the code that r interrupted, unless that is none of the kernel's.
func leaf(r *amd64.Regs, pcs []uintptr) int {
	ip := OriginalIP(r)
	if len(pcs) == 0 || !mm.Text.Contains(ip) {
		return 0
	}
	pcs[0] = ip + 1
	return 1
}

// walkable reports whether the runtime can walk g's stack from r: it is in Go
// code, on that stack, or has just run over its end.
func walkable(r *amd64.Regs, g unsafe.Pointer) bool {
	if g == nil || !mm.Text.Contains(OriginalIP(r)) {
		return false
	}
	lo, hi := goruntime.Stack(g)
	return uintptr(r.SP) >= lo-4096 && uintptr(r.SP) < hi
}
