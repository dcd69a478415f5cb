package program

// Trap context, and goroutines with interrupts off. Nothing here checks the stack, so that a goroutine is
// not preempted in it.

import (
	"sync/atomic"
	"syscall"
	"unsafe"

	"sonde/probe/ring"
)

// table returns a CPU's table. Safe because: each is at a multiple of each, and the CPU is one.
//
//go:nosplit
func (m *Map) table(cpu int) unsafe.Pointer { return unsafe.Add(m.base, uintptr(cpu)*m.each) }

// find returns where the value of a key is, nil if it is nowhere.
//
//go:nosplit
func (m *Map) find(t, key unsafe.Pointer) unsafe.Pointer {
	switch {
	case m.value == 0:
		return m.element(t, key)
	case m.bits != 0:
		n, _ := m.findPrefix(key)
		if n == nil {
			return nil
		}
		return unsafe.Add(unsafe.Pointer(n), m.value)
	}
	if e := m.findEntry((*table)(t), key); e != nil {
		m.touch((*table)(t), e)
		return unsafe.Add(unsafe.Pointer(e), m.value)
	}
	return nil
}

// element returns where an array's element is.
//
//go:nosplit
func (m *Map) element(t, key unsafe.Pointer) unsafe.Pointer {
	i := *(*uint32)(key)
	if i >= m.Spec.MaxEntries {
		return nil
	}
	return unsafe.Add(t, uintptr(i)*m.stride)
}

// update sets the value of a key.
//
//go:nosplit
func (m *Map) update(t, key, value unsafe.Pointer, how uint64) syscall.Errno {
	switch {
	case how > Exist:
		return syscall.EINVAL
	case m.bits != 0:
		return m.updatePrefix(key, value, how)
	case m.value != 0:
		return m.updateEntry((*table)(t), key, value, how)
	case how == NoExist:
		return syscall.EEXIST
	}
	p := m.element(t, key)
	if p == nil {
		return syscall.E2BIG
	}
	store(p, value, m.size)
	return 0
}

// remove removes a key.
//
//go:nosplit
func (m *Map) remove(t, key unsafe.Pointer) syscall.Errno {
	switch {
	case m.stacks:
		return m.removeStack(key)
	case m.value == 0:
		return syscall.EINVAL
	case m.bits != 0:
		return m.removePrefix(key)
	}
	return m.removeEntry((*table)(t), key)
}

// updateWhole is update for goroutines.
//
//go:nosplit
func (m *Map) updateWhole(t, key, value unsafe.Pointer, how uint64) syscall.Errno {
	if m.bits != 0 {
		return m.updatePrefixWhole(key, value, how)
	}
	flags := irqOff()
	errno := m.update(t, key, value, how)
	irqRestore(flags)
	return errno
}

// removeWhole is remove for goroutines.
//
//go:nosplit
func (m *Map) removeWhole(t, key unsafe.Pointer) syscall.Errno {
	if m.bits != 0 {
		return m.removePrefixWhole(key)
	}
	flags := irqOff()
	errno := m.remove(t, key)
	irqRestore(flags)
	return errno
}

// copyOut copies a key's value to to.
//
//go:nosplit
func (m *Map) copyOut(t, key, to unsafe.Pointer) bool {
	switch {
	case m.stacks:
		return m.copyStack(key, to)
	case m.bits != 0:
		return m.copyPrefix(key, to)
	case m.value == 0:
		p := m.element(t, key)
		if p != nil {
			load(to, p, m.size)
		}
		return p != nil
	}
	for {
		e := m.findEntry((*table)(t), key)
		if e == nil {
			return false
		}
		if m.copyOf(e, key, to) {
			return true
		}
	}
}

// copyOf copies the value of an entry, unless it is another key's by now.
//
//go:nosplit
func (m *Map) copyOf(e *entry, key, to unsafe.Pointer) bool {
	w := e.word.Load()
	return w&stateMask == full && m.equal(e, key) && m.copyEntry(e, w, nil, to)
}

// Memory of maps is accessed by whole words, atomically: a program may be changing them. What is
// copied from or to it has n bytes, and belongs to the caller.

// store copies the n bytes at from to the map's memory at to.
//
//go:nosplit
func store(to, from unsafe.Pointer, n uint32) {
	for i := uint32(0); i < n; i += wordSize {
		(*atomic.Uint64)(unsafe.Add(to, i)).Store(word(unsafe.Add(from, i), n-i))
	}
}

// load copies n bytes of the map's memory at from to to.
//
//go:nosplit
func load(to, from unsafe.Pointer, n uint32) {
	for i := uint32(0); i < n; i += wordSize {
		w := (*atomic.Uint64)(unsafe.Add(from, i)).Load()
		if n-i >= wordSize {
			*(*uint64)(unsafe.Add(to, i)) = w
			continue
		}
		for j := i; j < n; j++ {
			*(*byte)(unsafe.Add(to, j)) = byte(w)
			w >>= 8
		}
	}
}

// word returns up to 8 of the n bytes at p, the others as 0.
//
//go:nosplit
func word(p unsafe.Pointer, n uint32) (w uint64) {
	if n >= wordSize {
		return *(*uint64)(p)
	}
	for i := n; i > 0; i-- {
		w = w<<8 | uint64(*(*byte)(unsafe.Add(p, i-1)))
	}
	return w
}

// move copies n bytes that belong to the caller.
//
//go:nosplit
func move(to, from unsafe.Pointer, n uintptr) {
	for ; n >= wordSize; n -= wordSize {
		*(*uint64)(to) = *(*uint64)(from)
		to, from = unsafe.Add(to, wordSize), unsafe.Add(from, wordSize)
	}
	for i := range n {
		*(*byte)(unsafe.Add(to, i)) = *(*byte)(unsafe.Add(from, i))
	}
}

// zero clears n bytes. It is no loop over a slice, which the compiler would make the runtime do, by SSE
// registers.
//
//go:nosplit
func zero(to unsafe.Pointer, n uintptr) {
	for i := range n {
		*(*byte)(unsafe.Add(to, i)) = 0
	}
}

// reserve returns room for a record of a ring. Before it is the address of the writer, since what submits
// the record gets only that.
func (m *Map) reserve(cpu int, n uintptr, now int64) unsafe.Pointer {
	w := m.ring.Writer(cpu)
	p := w.Reserve(n+recordHead, now)
	if p == nil {
		return nil
	}
	*(*uintptr)(p) = uintptr(unsafe.Pointer(w))
	return unsafe.Add(p, recordHead)
}

// recordHead is the size of a record's head in bytes.
const recordHead = wordSize

// writerOf returns whose a record is. Safe because: reserve has put it there, and programs cannot change
// it; maps stay as long as a program uses them.
func writerOf(record unsafe.Pointer) *ring.Writer {
	return *(**ring.Writer)(unsafe.Add(record, -recordHead))
}

// submit passes a record on to readers, discard gives it up.
func submit(record unsafe.Pointer)  { writerOf(record).Submit() }
func discard(record unsafe.Pointer) { writerOf(record).Discard(unsafe.Add(record, -recordHead)) }
