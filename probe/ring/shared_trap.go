package ring

// Trap context: nothing here checks the stack, allocates or waits. A ring that all CPUs share, in the layout of
// BPF_MAP_TYPE_RINGBUF, which programs of ring 3 map and read. A record has 8 bytes before it: its size, and
// whether it is still being written or was given up. One that would not be in one piece at the end of memory
// begins at its start, after a record that was given up.
//
// Source: Linux, Documentation/bpf/ringbuf.rst; uapi/linux/bpf.h, BPF_RINGBUF_*.

import (
	"sync/atomic"
	"unsafe"
)

const (
	sharedBusy    = 1 << 31
	sharedDiscard = 1 << 30
	sharedHead    = wordSize // before each record

	// SharedPages is how many bytes there are before the records: the reader's position, which it writes, and
	// the writers', a page each.
	SharedPages = 2 * perfPage

	lockTries = 1024 // as long as a writer waits for another
	walkMost  = 64   // records that one reservation finds finished
)

// Reserve returns room for a record of n bytes; nil if there is none, or another CPU does not give way: that is
// counted. The room is the caller's until Submit or Discard, which can come in any order.
//
// Context: any, interrupts off.
//
//go:nosplit
func (s *Shared) Reserve(n uintptr) unsafe.Pointer {
	need := (uint64(n) + sharedHead + wordSize - 1) &^ (wordSize - 1)
	if uint64(n) > s.size || need > s.size || !s.take() {
		s.lost.Add(1)
		return nil
	}
	head := s.word(perfPage).Load()
	first := head
	if rest := -head & (s.size - 1); rest < need && rest != 0 {
		first += rest
	}
	s.finish(head)
	var p unsafe.Pointer
	if end := first + need; end-s.word(0).Load() <= s.size && end-s.oldest <= s.size {
		if first != head {
			s.header(head).Store(uint64(first-head-sharedHead) | sharedDiscard)
		}
		s.header(first).Store(uint64(n) | sharedBusy)
		p = unsafe.Add(unsafe.Pointer(s.header(first)), sharedHead)
		s.word(perfPage).Store(end)
		s.written.Add(1)
	} else {
		s.lost.Add(1)
	}
	s.lock.Store(0)
	return p
}

// take takes the lock.
//
//go:nosplit
func (s *Shared) take() bool {
	for range lockTries {
		if s.lock.CompareAndSwap(0, 1) {
			return true
		}
	}
	return false
}

// finish moves oldest over records that are not being written any more: what the reader says must not let
// others be written over. Called with lock held.
//
//go:nosplit
func (s *Shared) finish(head uint64) {
	for range walkMost {
		if s.oldest == head {
			return
		}
		h := s.header(s.oldest).Load()
		if h&sharedBusy != 0 {
			return
		}
		s.oldest += (h&(sharedDiscard-1) + sharedHead + wordSize - 1) &^ (wordSize - 1)
	}
}

// SubmitShared passes a record on to readers.
//
//go:nosplit
func SubmitShared(record unsafe.Pointer) { endShared(record, 0) }

// DiscardShared gives up a record.
//
//go:nosplit
func DiscardShared(record unsafe.Pointer) { endShared(record, sharedDiscard) }

// endShared takes the mark away. Safe because: Reserve has put the header there, and programs of ring 3 cannot
// write to it.
//
//go:nosplit
func endShared(record unsafe.Pointer, mark uint64) {
	h := (*atomic.Uint64)(unsafe.Add(record, -sharedHead))
	h.Store(h.Load()&^sharedBusy | mark)
}

// header is the header at a position. Safe because: positions are multiples of 8, taken modulo the size.
//
//go:nosplit
func (s *Shared) header(at uint64) *atomic.Uint64 {
	return s.word(SharedPages + uintptr(at&(s.size-1)))
}

// word is a word of the memory. Safe because: the offset is inside.
//
//go:nosplit
func (s *Shared) word(off uintptr) *atomic.Uint64 {
	return (*atomic.Uint64)(unsafe.Add(s.memory, off))
}
