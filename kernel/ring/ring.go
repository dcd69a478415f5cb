package ring

import (
	"sync"
	"sync/atomic"
	"syscall"
	"unsafe"

	"sonde/kernel/poll"
	"sonde/kernel/refusal"
)

// A Ring has a Writer for each CPU, and readers for all of them.
type Ring struct {
	writers  []Writer
	queue    poll.Queue
	watching atomic.Bool // a goroutine looks for records on behalf of those in queue

	mu sync.Mutex // held by readers, so that they take turns
}

// Sizes of a CPU's part in bytes.
const (
	Least = 1 << 10
	Most  = 1 << 26
)

// New makes a ring for so many CPUs, with size bytes for each. The largest record has half of
// that, minus 16 bytes.
//
// Errors: EINVAL size is no power of two from Least to Most.
func New(cpus, size int) (*Ring, error) {
	if size < Least || size > Most || size&(size-1) != 0 {
		return nil, refusal.New(syscall.EINVAL, "a ring of %d bytes: give a power of two from %d to %d", size, Least, Most)
	}
	r := &Ring{writers: make([]Writer, cpus)}
	for i := range r.writers {
		w := &r.writers[i]
		w.memory, w.size = make([]uint64, size/wordSize+1), uint64(size)
	}
	return r, nil
}

// Writer returns a CPU's part.
//
// Context: any.
func (r *Ring) Writer(cpu int) *Writer { return &r.writers[cpu] }

// A Record is what a writer has written.
type Record struct {
	CPU  int
	When int64
	Data []byte
}

// Take takes the oldest record. Data is appended to room, which may be nil. Records of several
// CPUs come in the order of their times if they are there when Take looks.
//
// Context: goroutine.
func (r *Ring) Take(room []byte) (rec Record, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var oldest *Writer
	for i := range r.writers {
		w := &r.writers[i]
		if when, ok := w.next(); ok && (oldest == nil || when < rec.When) {
			oldest, rec.CPU, rec.When = w, i, when
		}
	}
	if oldest == nil {
		return rec, false
	}
	rec.Data = oldest.remove(room)
	return rec, true
}

// next skips what is unused, and returns the time of the record after it.
//
// Context: mu of the ring held.
func (w *Writer) next() (when int64, ok bool) {
	for at := w.tail.Load(); at != w.done.Load(); at = w.tail.Load() {
		header := w.memory[at&(w.size-1)/wordSize:]
		if header[0]&unused == 0 {
			return int64(header[1]), true
		}
		w.skip(header[0] &^ unused)
	}
	return 0, false
}

// remove takes the record that next has found.
//
// Context: mu of the ring held.
func (w *Writer) remove(room []byte) []byte {
	at := w.tail.Load() & (w.size - 1) / wordSize
	n := w.memory[at]
	if n > 0 {
		// Safe because: n bytes follow the header, and stay until tail has moved.
		room = append(room, unsafe.Slice((*byte)(unsafe.Pointer(&w.memory[at+2])), n)...)
	}
	w.read.Add(1)
	w.skip(n)
	return room
}

// skip moves tail past a record of n bytes.
func (w *Writer) skip(n uint64) {
	w.tail.Store(w.tail.Load() + space(n))
}

// A Ledger counts records. While nothing is being written or read, Written is Read plus what
// waits, and each Reserve is in one of Written, Discarded and Lost.
type Ledger struct{ Written, Discarded, Lost, Read uint64 }

// Ledger adds up all CPUs.
func (r *Ring) Ledger() (l Ledger) {
	for i := range r.writers {
		w := &r.writers[i]
		l.Written += w.written.Load()
		l.Discarded += w.dropped.Load()
		l.Lost += w.lost.Load()
		l.Read += w.read.Load()
	}
	return l
}
