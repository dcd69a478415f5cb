package ring

// Trap context. Writers of one CPU interrupt each other, and none waits.

import (
	"sync/atomic"
	"unsafe"
)

const (
	wordSize   = 8
	headerSize = 2 * wordSize // before each record: its size and flags, its time
	align      = headerSize   // of records, so that a header fits wherever there is room

	unused = 1 << 63 // flag: nothing for readers
)

// A Writer is one CPU's part of a ring.
type Writer struct {
	memory []uint64 // with one more word, so that an empty record at the end has an address, too
	size   uint64   // of memory without that, in bytes; a power of two

	// Positions in bytes. They only grow; modulo the size of memory, they are places in it.
	head atomic.Uint64 // where the next record will be
	done atomic.Uint64 // up to where readers may read
	open atomic.Int64  // reservations in progress

	written, dropped, lost atomic.Uint64

	_    [64]byte      // readers write to another cache line
	tail atomic.Uint64 // up to where readers have read
	read atomic.Uint64
	_    [64]byte
}

// Reserve returns room for a record of n bytes, at a multiple of 16, or nil if there is none:
// the record is counted as lost. when is the record's time. The room is the caller's until
// Submit or Discard.
//
// Context: any; one writer at a time, except for those that interrupt it.
func (w *Writer) Reserve(n uintptr, when int64) unsafe.Pointer {
	w.open.Add(1)
	at, ok := w.take(uint64(n))
	if !ok {
		w.lost.Add(1)
		w.close()
		return nil
	}
	record := w.memory[at/wordSize:][:3]
	record[0], record[1] = uint64(n), uint64(when)
	return unsafe.Pointer(&record[2])
}

// take moves head past the next record, and returns the record's place.
func (w *Writer) take(n uint64) (at uint64, ok bool) {
	if n > w.most() {
		return 0, false
	}
	need := space(n)
	for {
		head := w.head.Load()
		at, rest := head&(w.size-1), uint64(0)
		if at+need > w.size { // a record is in one piece: the rest of memory stays unused
			rest = w.size - at
		}
		if head+rest+need-w.tail.Load() > w.size {
			return 0, false
		}
		if !w.head.CompareAndSwap(head, head+rest+need) {
			continue // another writer has interrupted this one
		}
		if rest == 0 {
			return at, true
		}
		w.memory[at/wordSize] = unused | (rest - headerSize)
		return 0, true
	}
}

// space is what a record of n bytes takes.
func space(n uint64) uint64 { return (n + headerSize + align - 1) &^ (align - 1) }

// most is the size of the largest record: it fits into an empty part at any place.
func (w *Writer) most() uint64 { return w.size/2 - headerSize }

// Submit passes the record that was reserved last to the readers.
//
// Context: as for Reserve.
func (w *Writer) Submit() {
	w.written.Add(1)
	w.close()
}

// Discard gives up the record that was reserved last, at p.
//
// Context: as for Reserve.
func (w *Writer) Discard(p unsafe.Pointer) {
	// Safe because: Reserve has put the header there.
	*(*uint64)(unsafe.Add(p, -headerSize)) |= unused
	w.dropped.Add(1)
	w.close()
}

// close ends a reservation. The outermost one shows readers all that was reserved, also by a
// writer that interrupts it here.
func (w *Writer) close() {
	for w.open.Load() == 1 {
		head := w.head.Load()
		w.done.Store(head)
		w.open.Store(0)
		if w.head.Load() == head {
			return
		}
		w.open.Store(1)
	}
	w.open.Add(-1)
}
