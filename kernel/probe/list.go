package probe

import (
	"slices"
	"sync/atomic"
)

// A List is an ordered list that hits go through without a lock: a change replaces
// it by a changed copy. Who changes it holds a lock of his own.
type List[T comparable] struct{ p atomic.Pointer[[]T] }

// Load returns the list as it is now; it does not change any more. Nil if it has
// never held anything.
//
// Context: any.
func (l *List[T]) Load() *[]T { return l.p.Load() }

// All returns the elements in order.
//
// Context: any.
func (l *List[T]) All() []T {
	if p := l.p.Load(); p != nil {
		return *p
	}
	return nil
}

// Add puts x at the end and returns the list that was replaced, which hits may
// still go through.
//
// Context: goroutine.
func (l *List[T]) Add(x T) (was *[]T) {
	list := append(slices.Clip(slices.Clone(l.All())), x)
	return l.p.Swap(&list)
}

// Remove takes x out and returns the list that was replaced, as Add.
//
// Context: goroutine.
func (l *List[T]) Remove(x T) (was *[]T) {
	list := slices.DeleteFunc(slices.Clone(l.All()), func(y T) bool { return x == y })
	return l.p.Swap(&list)
}
