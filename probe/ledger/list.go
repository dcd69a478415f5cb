package ledger

import (
	"sync/atomic"
	"unsafe"
)

// A List is an ordered list of pointers that hits read without a lock: a change replaces it
// with a changed copy. Writers must hold a lock of their own.
type List[T any] struct {
	first atomic.Pointer[*T] // in an array that ends with nil
}

// First returns the address of the first element; the others and a nil follow. They do not
// change any more. It is nil if there has never been an element.
//
// Context: any.
func (l *List[T]) First() **T { return l.first.Load() }

// All returns the elements in order.
//
// Context: any.
func (l *List[T]) All() []*T {
	p := l.first.Load()
	if p == nil {
		return nil
	}
	n := 0
	for *at(p, n) != nil {
		n++
	}
	return unsafe.Slice(p, n)
}

// at returns the address of the element i places after p's. Safe because: the caller stops
// at the nil.
func at[T any](p **T, i int) **T {
	return (**T)(unsafe.Add(unsafe.Pointer(p), uintptr(i)*unsafe.Sizeof(p)))
}

// Add appends x. It returns the replaced list, which hits may still be reading.
func (l *List[T]) Add(x *T) (was **T) {
	all := l.All()
	list := make([]*T, len(all)+2) // and a nil
	list[copy(list, all)] = x
	return l.first.Swap(&list[0])
}

// AddFirst puts x in front of the others, and returns the replaced list like Add.
func (l *List[T]) AddFirst(x *T) (was **T) {
	all := l.All()
	list := make([]*T, len(all)+2)
	list[0] = x
	copy(list[1:], all)
	return l.first.Swap(&list[0])
}

// Remove removes x, and returns the replaced list like Add.
func (l *List[T]) Remove(x *T) (was **T) {
	all := l.All()
	if len(all) == 1 && all[0] == x {
		return l.first.Swap((**T)(unsafe.Pointer(&none)))
	}
	list := make([]*T, 0, len(all)+1)
	for _, y := range all {
		if y != x {
			list = append(list, y)
		}
	}
	return l.first.Swap(&list[:1][0])
}

// Set makes these the elements, and returns the replaced list like Add.
func (l *List[T]) Set(all []*T) (was **T) {
	list := make([]*T, len(all)+1)
	copy(list, all)
	return l.first.Swap(&list[0])
}

// none is the list without elements, of whatever type. It never changes.
var none unsafe.Pointer
