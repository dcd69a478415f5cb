package tally

import (
	"cmp"
	"slices"
	"sync/atomic"
)

// Depth is how many calls of a stack are told apart.
const Depth = 16

// Stacks counts how often each stack of calls came. The zero Stacks is empty.
type Stacks struct {
	slots [room]stack
	lost  atomic.Uint64
}

type stack struct {
	count atomic.Uint64 // 0: it is not whole yet
	taken atomic.Bool
	n     int
	calls [Depth]uintptr
}

// A Stack is calls, the innermost first, and how often they came.
type Stack struct {
	Calls []uintptr
	Count uint64
}

// Add counts a stack, of which the innermost Depth calls count.
//
// Context: any; it allocates nothing.
func (t *Stacks) Add(calls []uintptr) {
	calls = calls[:min(len(calls), Depth)]
	at := uintptr(0)
	for _, c := range calls {
		at = (at ^ c) * 0x9e3779b97f4a7c15
	}
	at >>= 54
	for i := range uintptr(room) {
		s := &t.slots[(at+i)%room]
		if s.count.Load() > 0 && s.is(calls) {
			s.count.Add(1)
			return
		}
		if !s.taken.Load() && s.taken.CompareAndSwap(false, true) {
			s.n = copy(s.calls[:], calls)
			s.count.Add(1)
			return
		}
	}
	t.lost.Add(1)
}

func (s *stack) is(calls []uintptr) bool {
	if s.n != len(calls) {
		return false
	}
	for i, c := range calls {
		if s.calls[i] != c {
			return false
		}
	}
	return true
}

// Lost is how many stacks there was no room for.
func (t *Stacks) Lost() uint64 { return t.lost.Load() }

// All returns the stacks, the most frequent first.
func (t *Stacks) All() []Stack {
	var all []Stack
	for i := range t.slots {
		s := &t.slots[i]
		if n := s.count.Load(); n > 0 {
			all = append(all, Stack{slices.Clone(s.calls[:s.n]), n})
		}
	}
	byCalls := func(a, b Stack) int { return slices.Compare(a.Calls, b.Calls) }
	slices.SortFunc(all, byCalls)
	merged := all[:0] // two CPUs may have taken a slot each for the same
	for _, s := range all {
		if n := len(merged); n > 0 && byCalls(merged[n-1], s) == 0 {
			merged[n-1].Count += s.Count
			continue
		}
		merged = append(merged, s)
	}
	slices.SortStableFunc(merged, func(a, b Stack) int { return cmp.Compare(b.Count, a.Count) })
	return merged
}

// Reset empties t. Nothing may be added meanwhile.
func (t *Stacks) Reset() {
	for i := range t.slots {
		s := &t.slots[i]
		s.count.Store(0)
		s.n = 0
		s.taken.Store(false)
	}
	t.lost.Store(0)
}
