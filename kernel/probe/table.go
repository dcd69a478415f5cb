package probe

import "sync/atomic"

// A Table finds what is at an address, without a lock: open addressing, at most
// half of the entries used. Who changes it holds a lock of his own; readers see
// each change as a whole.
//
// An entry that was removed stays used (its address is 0) until the table is
// made anew: were it used again, a reader who has read its value could read
// another's address.
type Table[T any] struct {
	p atomic.Pointer[[]entry[T]] // a power of two of entries
	// guarded by the writers' lock:
	used int // entries that are, or were
	live int
	none T // what removed entries hold
}

type entry[T any] struct {
	value atomic.Pointer[T]
	addr  atomic.Uintptr // written before value is, read after it
}

// minEntries is how small a table is.
const minEntries = 64

// hash spreads addresses: Fibonacci hashing.
func hash(addr uintptr) uintptr { return addr * 0x9e3779b97f4a7c15 >> 32 }

// Find returns what is at addr, nil if there is nothing.
//
// Context: any.
func (t *Table[T]) Find(addr uintptr) *T {
	p := t.p.Load()
	if p == nil {
		return nil
	}
	all := *p
	mask := uintptr(len(all) - 1)
	for i := hash(addr) & mask; ; i = (i + 1) & mask {
		e := &all[i&uintptr(len(all)-1)]
		v := e.value.Load()
		if v == nil || e.addr.Load() == addr {
			return v
		}
	}
}

// First is Find, but gives up after one look: nil does not say that there is
// nothing. It is small enough to be inlined.
//
// Context: any.
func (t *Table[T]) First(addr uintptr) *T {
	p := t.p.Load()
	if p == nil {
		return nil
	}
	all := *p
	e := &all[hash(addr)&uintptr(len(all)-1)]
	v := e.value.Load()
	if v != nil && e.addr.Load() != addr {
		return nil
	}
	return v
}

// Insert puts v at addr, where nothing is.
//
// Context: goroutine.
func (t *Table[T]) Insert(addr uintptr, v *T) {
	p := t.p.Load()
	if p == nil || 2*(t.used+1) > len(*p) {
		p = t.rebuilt(t.live + 1)
		defer t.p.Store(p)
	}
	place(*p, addr, v)
	t.used++
	t.live++
}

// Remove takes out what is at addr.
//
// Context: goroutine.
func (t *Table[T]) Remove(addr uintptr) {
	p := t.p.Load()
	if p == nil {
		return
	}
	mask := uintptr(len(*p) - 1)
	for i := hash(addr) & mask; ; i = (i + 1) & mask {
		e := &(*p)[i]
		switch {
		case e.value.Load() == nil:
			return
		case e.addr.Load() == addr:
			e.addr.Store(0)
			e.value.Store(&t.none)
			t.live--
			return
		}
	}
}

// Len returns how many values there are.
//
// Context: as Insert.
func (t *Table[T]) Len() int { return t.live }

// All calls yield for each value, in no order.
//
// Context: goroutine.
func (t *Table[T]) All(yield func(*T) bool) {
	p := t.p.Load()
	if p == nil {
		return
	}
	for i := range *p {
		if e := &(*p)[i]; e.addr.Load() != 0 && !yield(e.value.Load()) {
			return
		}
	}
}

// rebuilt returns entries for n values, with those of t in them.
func (t *Table[T]) rebuilt(n int) *[]entry[T] {
	size := minEntries
	for size < 4*n {
		size *= 2
	}
	all := make([]entry[T], size)
	if p := t.p.Load(); p != nil {
		for i := range *p {
			if e := &(*p)[i]; e.addr.Load() != 0 {
				place(all, e.addr.Load(), e.value.Load())
			}
		}
	}
	t.used = t.live
	return &all
}

// place stores v in the first free entry of its chain.
func place[T any](all []entry[T], addr uintptr, v *T) {
	mask := uintptr(len(all) - 1)
	i := hash(addr) & mask
	for all[i].value.Load() != nil {
		i = (i + 1) & mask
	}
	all[i].addr.Store(addr)
	all[i].value.Store(v)
}
