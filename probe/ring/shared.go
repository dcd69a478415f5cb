package ring

import (
	"sync/atomic"
	"syscall"
	"unsafe"

	"sonde/kernel/poll"
	"sonde/kernel/refusal"
)

// A Shared is a ring of all CPUs, which a program of ring 3 reads where it has mapped it.
type Shared struct {
	memory unsafe.Pointer // SharedPages bytes, and the records
	size   uint64         // of the records, a power of two

	lock   atomic.Uint32
	oldest uint64 // guarded by lock: no record before it is being written

	written, lost atomic.Uint64
	waiters       Waiters
}

// FitsShared returns why a ring cannot have so many bytes.
//
// Errors: EINVAL it is not a power of two of pages.
func FitsShared(size int) error {
	if size < perfPage || size > Most || size&(size-1) != 0 {
		return refusal.New(syscall.EINVAL, "a ring of %d bytes: give a power of two from %d to %d", size, perfPage, Most)
	}
	return nil
}

// NewShared makes a ring in memory of SharedPages bytes and a size that fits.
func NewShared(mem []byte) *Shared {
	return &Shared{memory: unsafe.Pointer(unsafe.SliceData(mem)), size: uint64(len(mem) - SharedPages)}
}

// Counts returns how many records were reserved, and how many lost.
func (s *Shared) Counts() (written, lost uint64) { return s.written.Load(), s.lost.Load() }

// Positions returns up to where the reader says to have read, and up to where there are records.
//
// Context: any.
func (s *Shared) Positions() (read, written uint64) { return s.word(0).Load(), s.word(perfPage).Load() }

// Poll implements poll.Source: In if there is a record.
func (s *Shared) Poll() poll.Events { return s.waiters.Poll(s.filled) }

// Queue implements poll.Source.
func (s *Shared) Queue() *poll.Queue { return s.waiters.Queue() }

func (s *Shared) filled() bool {
	read, written := s.Positions()
	return read != written && s.header(read&^(wordSize-1)).Load()&sharedBusy == 0
}
