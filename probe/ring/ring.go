package ring

import (
	"sync"
	"syscall"
	"unsafe"

	"sonde/kernel/refusal"
)

// A Ring has a Writer for each CPU, and readers for all of them.
type Ring struct {
	writers []Writer
	waiters Waiters

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
// Errors: EINVAL size is not a power of two from Least to Most.
func New(cpus, size int) (*Ring, error) {
	if err := Fits(size); err != nil {
		return nil, err
	}
	return On(make([]uint64, cpus*Space(size)/wordSize), cpus, size), nil
}

// Fits returns why a CPU's part cannot have so many bytes.
//
// Errors: EINVAL size is not a power of two from Least to Most.
func Fits(size int) error {
	if size < Least || size > Most || size&(size-1) != 0 {
		return refusal.New(syscall.EINVAL, "a ring of %d bytes: give a power of two from %d to %d", size, Least, Most)
	}
	return nil
}

// Space is how many bytes of memory a CPU's part of size bytes takes.
func Space(size int) int { return size + align }

// On is New in memory of the caller's: Space(size) bytes for each CPU. The size fits.
func On(memory []uint64, cpus, size int) *Ring {
	r := &Ring{writers: make([]Writer, cpus)}
	for i := range r.writers {
		w := &r.writers[i]
		// Safe because: it is never taken for anything but bytes, and has no pointers.
		w.memory = unsafe.Pointer(&memory[i*Space(size)/wordSize])
		w.size, w.most = uint64(size), uint64(Largest(size))
	}
	return r
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
		h := w.at(at)
		if h.size&unused == 0 {
			return h.when, true
		}
		w.skip(h.size &^ unused)
	}
	return 0, false
}

// remove takes the record that next has found.
//
// Context: mu of the ring held.
func (w *Writer) remove(room []byte) []byte {
	h := w.at(w.tail.Load())
	// Safe because: the record follows the header, and stays until tail has moved.
	room = append(room, unsafe.Slice((*byte)(unsafe.Add(unsafe.Pointer(h), headerSize)), h.size)...)
	w.read.Add(1)
	w.skip(h.size)
	return room
}

// skip moves tail past a record of n bytes.
func (w *Writer) skip(n uint64) { w.tail.Store(w.tail.Load() + space(n)) }

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
