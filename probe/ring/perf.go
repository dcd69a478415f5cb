package ring

import (
	"sync/atomic"
	"syscall"
	"unsafe"

	"sonde/kernel/poll"
	"sonde/kernel/refusal"
)

// A Perf is a ring that a program of ring 3 reads where it has mapped it, in the layout of
// perf_event_open(2). One CPU writes. Without memory, what is written is lost.
type Perf struct {
	CPU int    // the one that writes; -1: any, one at a time
	ID  uint64 // of the event, in records of losses
	// Words are the fields before the data in each record, as bits of PERF_SAMPLE_*.
	Words uint64

	pages atomic.Pointer[perfPages]
	busy  atomic.Bool
	// guarded by busy:
	head   uint64
	unsaid uint64 // records that were lost since the last one that was written

	written, lost atomic.Uint64
	waiters       Waiters
}

// SetMemory gives the ring its memory, a page and a power of two of pages; nil takes it away, and the caller
// waits for a grace period before it frees it. With over, the oldest records are overwritten, and the reader's
// position is not looked at.
//
// Errors: EINVAL the size; EBUSY a record is being written.
func (p *Perf) SetMemory(mem []byte, over bool) error {
	if mem == nil {
		p.pages.Store(nil)
		return nil
	}
	size := uint64(len(mem)) - perfPage
	if len(mem) < 2*perfPage || size&(size-1) != 0 {
		return refusal.New(syscall.EINVAL, "a ring of %d bytes: give a page and a power of two of pages", len(mem))
	}
	if !p.busy.CompareAndSwap(false, true) {
		return refusal.New(syscall.EBUSY, "a record is being written")
	}
	defer p.busy.Store(false)
	m := &perfPages{unsafe.Pointer(unsafe.SliceData(mem)), size, over}
	clear(mem[:perfPage])
	m.word(perfDataAt).Store(perfPage)
	m.word(perfDataSize).Store(size)
	p.head, p.unsaid = 0, 0
	p.pages.Store(m)
	return nil
}

// Counts returns how many records were written, and how many lost.
func (p *Perf) Counts() (written, lost uint64) { return p.written.Load(), p.lost.Load() }

// Poll implements poll.Source: In if there is something that the program has not read.
func (p *Perf) Poll() poll.Events { return p.waiters.Poll(p.filled) }

// Queue implements poll.Source.
func (p *Perf) Queue() *poll.Queue { return p.waiters.Queue() }

func (p *Perf) filled() bool {
	m := p.pages.Load()
	return m != nil && m.word(perfHead).Load() != m.word(perfTail).Load()
}
