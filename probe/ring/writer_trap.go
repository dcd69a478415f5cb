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

// A header is in front of each record.
type header struct {
	size uint64 // of the record in bytes; and unused
	when int64
}

// A Writer is one CPU's part of a ring.
type Writer struct {
	memory unsafe.Pointer // size bytes, and some more for the address of an empty record at the end
	size   uint64         // a power of two
	most   uint64         // the largest record: it fits into an empty part at any place

	// Positions in bytes. They only grow; modulo size, they are places in memory.
	head atomic.Uint64 // where the next record will be
	done atomic.Uint64 // up to where readers may read
	// open is how many reservations are in progress: a writer that interrupts another leaves it as
	// it was, so that it need not be atomic.
	open int

	written, dropped, lost atomic.Uint64

	_    [64]byte      // readers write to another cache line
	tail atomic.Uint64 // up to where readers have read
	read atomic.Uint64
	_    [64]byte
}

// at returns the header at a position. Safe because: positions are multiples of align, and
// less than size modulo size.
func (w *Writer) at(pos uint64) *header { return (*header)(unsafe.Add(w.memory, pos&(w.size-1))) }

// space is what a record of n bytes takes.
func space(n uint64) uint64 { return (n + headerSize + align - 1) &^ (align - 1) }

// Reserve returns room for a record of n bytes, at a multiple of 16, or nil if there is none:
// the record is counted as lost. when is the record's time. The room is the caller's until
// Submit or Discard.
//
// Context: any; one writer at a time, except for those that interrupt it.
func (w *Writer) Reserve(n uintptr, when int64) unsafe.Pointer {
	w.open++
	for need := space(uint64(n)); uint64(n) <= w.most; {
		head := w.head.Load()
		first := head
		if rest := -head & (w.size - 1); rest != 0 && rest < need {
			first += rest // a record is in one piece: the rest of memory stays unused
		}
		if first+need-w.tail.Load() > w.size {
			break
		}
		if !w.head.CompareAndSwap(head, first+need) {
			continue // another writer has interrupted this one
		}
		if first != head {
			w.at(head).size = unused | (first - head - headerSize)
		}
		h := w.at(first)
		h.size, h.when = uint64(n), when
		return unsafe.Add(unsafe.Pointer(h), headerSize)
	}
	w.lost.Add(1)
	w.close()
	return nil
}

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
	(*header)(unsafe.Add(p, -headerSize)).size |= unused
	w.dropped.Add(1)
	w.close()
}

// Positions returns up to where readers have read, and up to where they may: bytes since the ring was made.
//
// Context: any.
func (w *Writer) Positions() (read, written uint64) { return w.tail.Load(), w.done.Load() }

// close ends a reservation. The outermost one shows readers all that was reserved, also by a
// writer that interrupts it here.
func (w *Writer) close() {
	for w.open == 1 {
		head := w.head.Load()
		w.done.Store(head)
		w.open = 0
		if w.head.Load() == head {
			return
		}
		w.open = 1
	}
	w.open--
}
