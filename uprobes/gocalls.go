package uprobes

import "sync/atomic"

// The calls of Go functions that have more than a return (wantsMore). A goroutine may continue in another
// thread, and its stack may move. So such a call belongs to the goroutine, and is known by how far its
// return address is below the upper end of the stack: that does not change.
//
// Code that Go has compiled has the address of its goroutine's g in R14, at the beginning of a function
// and at its end; g begins with the bounds of the stack. Both are the program's, so they are checked for
// nothing else than to be plausible: a program that lies about them is told about its own calls wrongly.
// But two of its threads cannot be in one list at the same time: busy.
//
// Source: Go 1.26 cmd/compile/abi-internal.md, "amd64 architecture"; runtime/runtime2.go, type g.

// manyGoroutines bounds how many are known, in all programs. Calls of others are missed.
const manyGoroutines = 1 << 16

// goroutinesKnown is how many are known.
var goroutinesKnown atomic.Int32

// bucket is where the goroutine of a g is found.
func (all *goroutines) bucket(g uint64) *atomic.Pointer[goCalls] {
	return &all.buckets[(g>>6^g>>14)%uint64(len(all.buckets))]
}

// find returns the calls of the goroutine of a g, or nil.
//
// Context: any.
func (all *goroutines) find(g uint64) *goCalls {
	for l := all.bucket(g).Load(); l != nil; l = l.next {
		if l.g == g {
			return l
		}
	}
	return nil
}

// meet is find for one that may be new; nil: there are too many.
func (all *goroutines) meet(g uint64) *goCalls {
	for b := all.bucket(g); ; {
		first := b.Load()
		if l := all.find(g); l != nil {
			return l
		}
		if goroutinesKnown.Load() >= manyGoroutines {
			return nil
		}
		if l := (&goCalls{g: g, next: first}); b.CompareAndSwap(first, l) {
			all.n.Add(1)
			goroutinesKnown.Add(1)
			return l
		}
	}
}

// forget forgets all calls: the program has ended.
func (all *goroutines) forget() {
	goroutinesKnown.Add(-all.n.Swap(0))
	for i := range all.buckets {
		for l := all.buckets[i].Load(); l != nil; l = l.next {
			l.forget()
		}
	}
}

// hold takes the list of the thread's goroutine, unless another thread has it. slot is what sp is in it.
//
// Context: any; lo and hi are the bounds of the goroutine's stack.
func (th *thread) hold(l *goCalls, sp, lo, hi uint64) (slot uint64, ok bool) {
	if l == nil || sp <= lo || sp >= hi || !l.busy.CompareAndSwap(false, true) {
		return 0, false
	}
	keep(&th.held, l)
	return sp - hi, true
}
