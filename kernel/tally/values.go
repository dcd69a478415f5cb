package tally

import (
	"cmp"
	"slices"
	"sync/atomic"
)

// room is how many different values, or stacks, can be told apart.
const room = 1024

// Values counts how often each value came. The zero Values is empty.
type Values struct {
	slots [room]struct {
		value atomic.Uint64
		count atomic.Uint64 // of 0, which no value can stand for, too
		taken atomic.Bool
	}
	lost atomic.Uint64
}

// A Value and how often it came.
type Value struct{ Value, Count uint64 }

// Add counts v.
//
// Context: any; it allocates nothing.
func (t *Values) Add(v uint64) {
	at := v * 0x9e3779b97f4a7c15 >> 54
	for i := range uint64(room) {
		s := &t.slots[(at+i)%room]
		// One that another CPU is taking is not looked at: All adds up what is there twice.
		if s.taken.Load() && s.value.Load() == v && s.count.Load() > 0 {
			s.count.Add(1)
			return
		}
		if !s.taken.Load() && s.taken.CompareAndSwap(false, true) {
			s.value.Store(v)
			s.count.Add(1)
			return
		}
	}
	t.lost.Add(1)
}

// Lost is how many values there was no room for.
func (t *Values) Lost() uint64 { return t.lost.Load() }

// All returns the values, the most frequent first.
func (t *Values) All() []Value {
	counts := map[uint64]uint64{}
	for i := range t.slots {
		if s := &t.slots[i]; s.count.Load() > 0 {
			counts[s.value.Load()] += s.count.Load()
		}
	}
	all := make([]Value, 0, len(counts))
	for v, n := range counts {
		all = append(all, Value{v, n})
	}
	slices.SortFunc(all, func(a, b Value) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Value, b.Value))
	})
	return all
}

// Reset empties t. Nothing may be added meanwhile.
func (t *Values) Reset() {
	for i := range t.slots {
		s := &t.slots[i]
		s.value.Store(0)
		s.count.Store(0)
		s.taken.Store(false)
	}
	t.lost.Store(0)
}
