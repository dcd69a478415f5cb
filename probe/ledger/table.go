package ledger

import (
	"sync/atomic"
	"unsafe"
)

// A Table finds what is at an address, without a lock: open addressing, at most
// half of the entries used. A T begins with its address, a uintptr that is not 0
// and does not change. Writers must hold a lock of their own; readers see
// each change as a whole.
type Table[T any] struct {
	p   atomic.Pointer[[]atomic.Pointer[T]] // a power of two of entries
	end T                                   // what unused entries point to; its address is 0
	// guarded by the writers' lock:
	live int
	used int // live entries, and removed ones that left a gap in a chain
	gap  T   // what such entries point to; its address is 0
}

// minEntries is the least size of a table.
const minEntries = 64

// Factor and Shift make an address's hash: Fibonacci hashing, with a factor that is small enough for one instruction.
const (
	Factor = 0x61c88647
	Shift  = 20
)

func hash(addr uintptr) uintptr { return addr * Factor >> Shift }

// address returns the address of what is at v. Safe because: a T begins with it.
func address[T any](v *T) uintptr { return *(*uintptr)(unsafe.Pointer(v)) }

// First returns the first entry that Find would check, which is usually the result: the
// caller must compare its address. It is small enough to be inlined.
//
// Context: any.
func (t *Table[T]) First(addr uintptr) *T {
	p := t.p.Load()
	if p == nil {
		return nil
	}
	i := hash(addr) & uintptr(len(*p)-1)
	// Safe because: i is less than the length.
	return (*atomic.Pointer[T])(unsafe.Add(unsafe.Pointer(unsafe.SliceData(*p)), i*unsafe.Sizeof((*p)[0]))).Load()
}

// Entries returns where the entries begin, and how many there are, a power of two. Code that reads them without Go finds
// what is at addr, as a rule, where First does. They never become fewer; nil: there are none.
func (t *Table[T]) Entries() (first unsafe.Pointer, n int) {
	p := t.p.Load()
	if p == nil {
		return nil, 0
	}
	return unsafe.Pointer(unsafe.SliceData(*p)), len(*p)
}

// Find returns what is at addr, nil if there is nothing.
//
// Context: any.
func (t *Table[T]) Find(addr uintptr) *T {
	p := t.p.Load()
	if p == nil {
		return nil
	}
	all := *p
	for i := hash(addr); ; i++ {
		switch v := all[i&uintptr(len(all)-1)].Load(); {
		case v == &t.end:
			return nil
		case address(v) == addr:
			return v
		}
	}
}

// Insert puts v in the table, which has nothing at its address.
func (t *Table[T]) Insert(v *T) {
	t.live++
	if p := t.p.Load(); p != nil && 2*(t.used+1) <= len(*p) {
		if t.place(*p, v) {
			t.used++
		}
		return
	}
	t.rebuild(v)
}

// place stores v in the first entry of its chain that is free or a gap, and reports
// whether it was free.
func (t *Table[T]) place(all []atomic.Pointer[T], v *T) (free bool) {
	for i := hash(address(v)); ; i++ {
		e := &all[i&uintptr(len(all)-1)]
		if old := e.Load(); old == &t.end || old == &t.gap {
			e.Store(v)
			return old == &t.end
		}
	}
}

// rebuild makes a table without gaps, with v in it, and publishes it.
func (t *Table[T]) rebuild(v *T) {
	_, size := t.Entries()
	size = max(size, minEntries)
	for size < 4*t.live {
		size *= 2
	}
	all := make([]atomic.Pointer[T], size)
	for i := range all {
		all[i].Store(&t.end)
	}
	for old := range t.All {
		t.place(all, old)
	}
	t.place(all, v)
	t.used = t.live
	t.p.Store(&all)
}

// Remove takes out what is at addr.
func (t *Table[T]) Remove(addr uintptr) {
	p := t.p.Load()
	if p == nil {
		return
	}
	for i := hash(addr); ; i++ {
		e := &(*p)[i&uintptr(len(*p)-1)]
		switch v := e.Load(); {
		case v == &t.end:
			return
		case address(v) == addr:
			e.Store(&t.gap)
			t.live--
			return
		}
	}
}

// All calls yield for each value, in no order.
func (t *Table[T]) All(yield func(*T) bool) {
	p := t.p.Load()
	if p == nil {
		return
	}
	for i := range *p {
		if v := (*p)[i].Load(); v != &t.end && v != &t.gap && !yield(v) {
			return
		}
	}
}

// Len returns how many values there are.
//
// Context: as Insert.
func (t *Table[T]) Len() int { return t.live }
