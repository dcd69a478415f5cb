package program

// Trap context: see map_trap.go. Queues and stacks: values without keys, in a ring of places. Whatever
// changes one holds its lock, which is tried for a while and then given up, as that of a hash.

import (
	"sync/atomic"
	"syscall"
	"unsafe"
)

// queue is the head of a queue or stack, before its places.
type queue struct {
	lock   atomic.Uint32
	first  uint32 // the oldest value's place
	count  uint32
	filler [lineSize - 12]byte
}

// take takes the lock; nil: it cannot be had.
//
//go:nosplit
func (m *Map) take() *queue {
	q := (*queue)(m.base)
	for range tries {
		if q.lock.CompareAndSwap(0, 1) {
			return q
		}
	}
	m.lost.Add(1)
	return nil
}

// valueAt returns where the i-th value is, from the oldest. Safe because: there are MaxEntries places.
//
//go:nosplit
func (m *Map) valueAt(q *queue, i uint32) unsafe.Pointer {
	at := uint64(q.first) + uint64(i)
	if at >= uint64(m.Spec.MaxEntries) {
		at -= uint64(m.Spec.MaxEntries)
	}
	return unsafe.Add(unsafe.Pointer(q), unsafe.Sizeof(queue{})+uintptr(at)*m.stride)
}

// push adds a value. If the queue is full, Exist makes room by dropping the oldest.
//
//go:nosplit
func (m *Map) push(value unsafe.Pointer, how uint64) syscall.Errno {
	if how != Any && how != Exist {
		return syscall.EINVAL
	}
	q := m.take()
	if q == nil {
		return syscall.EBUSY
	}
	errno := syscall.Errno(0)
	if q.count == m.Spec.MaxEntries && how == Exist {
		q.drop(m.Spec.MaxEntries)
	}
	if q.count == m.Spec.MaxEntries {
		m.lost.Add(1)
		errno = syscall.E2BIG
	} else {
		store(m.valueAt(q, q.count), value, m.size)
		q.count++
	}
	q.lock.Store(0)
	return errno
}

// drop drops the oldest value.
//
//go:nosplit
func (q *queue) drop(places uint32) {
	if q.first++; q.first == places {
		q.first = 0
	}
	q.count--
}

// pull copies the value that is next: the oldest of a queue, the newest of a stack. It takes it away if
// asked to. Without one, the copy is 0.
//
//go:nosplit
func (m *Map) pull(to unsafe.Pointer, away bool) syscall.Errno {
	q := m.take()
	if q == nil {
		zero(to, uintptr(m.size))
		return syscall.EBUSY
	}
	errno := syscall.ENOENT
	switch {
	case q.count == 0:
		zero(to, uintptr(m.size))
	case m.newest:
		errno = 0
		load(to, m.valueAt(q, q.count-1), m.size)
		if away {
			q.count--
		}
	default:
		errno = 0
		load(to, m.valueAt(q, 0), m.size)
		if away {
			q.drop(m.Spec.MaxEntries)
		}
	}
	q.lock.Store(0)
	return errno
}

// pushWhole and pullWhole are push and pull for goroutines.
//
//go:nosplit
func (m *Map) pushWhole(value unsafe.Pointer, how uint64) syscall.Errno {
	flags := irqOff()
	errno := m.push(value, how)
	irqRestore(flags)
	return errno
}

//go:nosplit
func (m *Map) pullWhole(to unsafe.Pointer, away bool) syscall.Errno {
	flags := irqOff()
	errno := m.pull(to, away)
	irqRestore(flags)
	return errno
}
