package runtime

// Return probes replace return addresses on stacks; the runtime walks and moves
// those stacks.
//
// Why it is here: the unwinder must see the real return address (it throws on
// one it does not know), and only the runtime knows when a goroutine or its
// frames are gone. It does not depend on the shim.
//
// A call whose return address is replaced has a sondeRet, in a list headed in
// its g, innermost first. It is found by the distance of the slot from the
// stack's top, which stays the same when the stack is copied. The list belongs
// to the CPU that runs the goroutine; others read it only while it is stopped.
//
// The head is written at every probed call, and the next g in memory begins with
// what every function's stack check reads: so a g is filled up to whole cache
// lines, 512 bytes.

import (
	"internal/goarch"
	"unsafe"
)

// sondeRet is the beginning of a kprobes.KretprobeInstance, which keeps it
// alive; so nothing here is a pointer to the garbage collector.
type sondeRet struct {
	next uintptr // *sondeRet
	off  uintptr // stack.hi less the address of the slot
	lr   uintptr // the real return address
}

// Otherwise runtime2.go, as the overlay has it, needs another length at g's end.
var _ [0]struct{} = [unsafe.Sizeof(g{}) % 64]struct{}{}

// sondeTrampoline is the address the slots hold instead, 0 while there is none.
var sondeTrampoline uintptr

// sondeLeft is called with the head of a list of calls that have been left.
// It is nosplit and allocates nothing.
var sondeLeft func(head uintptr)

// SondeRetInit sets both, before the first return probe.
func SondeRetInit(trampoline uintptr, left func(head uintptr)) {
	sondeLeft = left
	sondeTrampoline = trampoline
}

// sondeRealLR returns the return address that the slot at addr on gp's stack
// stands for; lr is what it holds.
//
//go:nosplit
func sondeRealLR(gp *g, addr, lr uintptr) uintptr {
	w := sondeWalk{}
	return w.realLR(gp, addr, lr)
}

// sondeWalk is how far an unwinder has come in the list of a g: the slots that it asks for lie
// further and further out, as those in the list do. So a stack with n calls takes n steps. It
// has no pointers, like the unwinder that it is in.
type sondeWalk struct{ gp, at uintptr } // *g, *sondeRet

// realLR is sondeRealLR. The unwinder calls it for every frame.
//
//go:nosplit
func (w *sondeWalk) realLR(gp *g, addr, lr uintptr) uintptr {
	if lr-sondeDetours.lo < sondeDetours.len {
		return sondeDetours.original(lr)
	}
	if lr != sondeTrampoline || lr == 0 {
		return lr
	}
	off := gp.stack.hi - addr
	p := w.at
	if p == 0 || w.gp != uintptr(unsafe.Pointer(gp)) || (*sondeRet)(unsafe.Pointer(p)).off < off {
		p = gp.sondeRet
	}
	for p != 0 {
		r := (*sondeRet)(unsafe.Pointer(p))
		if r.off == off {
			w.gp, w.at = uintptr(unsafe.Pointer(gp)), p
			return r.lr
		}
		p = r.next
	}
	return lr
}

// sondeCallerPC is sondeRealLR for a function that reads its own return address:
// pc is what it has read, sp is the stack pointer of its caller. The runtime's
// functions that do so call it (see the overlay), and sonde/arch/amd64/retslot
// knows them by this call, so it is not inlined.
//
//go:nosplit
//go:noinline
func sondeCallerPC(pc, sp uintptr) uintptr {
	return sondeRealLR(getg(), sp-goarch.PtrSize, pc)
}

// sondeRealFP is sondeRealLR for walks by frame pointer, which know only the
// address: it lies on the stack of this M's goroutine or on its g0's.
func sondeRealFP(addr uintptr) uintptr {
	lr := *(*uintptr)(unsafe.Pointer(addr))
	if lr != sondeTrampoline || lr == 0 {
		return lr
	}
	mp := getg().m
	if gp := mp.curg; gp != nil && addr >= gp.stack.lo && addr < gp.stack.hi {
		return sondeRealLR(gp, addr, lr)
	}
	return sondeRealLR(mp.g0, addr, lr)
}

// sondeRetUnwind takes off the calls of gp whose frames lie below sp: a panic was recovered above them,
// or, with sp at the top, gp ends.
//
//go:nosplit
func sondeRetUnwind(gp *g, sp uintptr) {
	first := gp.sondeRet
	last := uintptr(0)
	for p := first; p != 0; {
		r := (*sondeRet)(unsafe.Pointer(p))
		if gp.stack.hi-r.off >= sp {
			break
		}
		last, p = p, r.next
	}
	if last == 0 {
		return
	}
	r := (*sondeRet)(unsafe.Pointer(last))
	gp.sondeRet = r.next
	r.next = 0
	sondeLeft(first)
}

// sondeDetours is where copies of one function are executed: in [lo, lo+len)
// one every size bytes, of n bytes at code. Such a copy calls probe
// handlers, so its addresses are on trap stacks, and the unwinder must take them
// for the function's.
var sondeDetours sondeCopies

type sondeCopies struct{ lo, len, size, code, n uintptr }

// SondeDetoursInit sets it, before there is one.
func SondeDetoursInit(lo, hi, size, code, n uintptr) {
	sondeDetours = sondeCopies{lo, hi - lo, size, code, n}
}

// original returns where in the function the address pc in a copy is.
//
//go:nosplit
func (c *sondeCopies) original(pc uintptr) uintptr {
	if off := (pc - c.lo) % c.size; off < c.n {
		return c.code + off
	}
	return pc
}
