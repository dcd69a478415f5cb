package probe

import (
	"sync/atomic"
	"unsafe"
)

// A List is an ordered list of pointers that hits go through without a lock: a
// change replaces it by a changed copy. Who changes it holds a lock of his own.
type List[T any] struct {
	first atomic.Pointer[*T] // in an array, behind which is a nil
}

// First returns the address of the first element; the others follow, and a nil.
// They do not change any more. Nil if there never was an element.
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

// at returns the address of the element that lies i behind p's. Safe because: the
// caller stops at the nil.
func at[T any](p **T, i int) **T {
	return (**T)(unsafe.Add(unsafe.Pointer(p), uintptr(i)*unsafe.Sizeof(p)))
}

// Add puts x at the end. It returns what was replaced, which hits may still go
// through.
func (l *List[T]) Add(x *T) (was **T) {
	all := l.All()
	list := make([]*T, len(all)+2) // and a nil
	list[copy(list, all)] = x
	return l.first.Swap(&list[0])
}

// Remove takes x out, and returns what Add does.
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

// none is the list without elements, of whatever type. It never changes.
var none unsafe.Pointer
