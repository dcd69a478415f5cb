package ring

import (
	"sync/atomic"
	"time"

	"sonde/kernel/poll"
)

// period is how often something is looked into while somebody waits for it.
const period = 10 * time.Millisecond

// Waiters are those who wait for something that is filled in trap context, where nothing can be woken: a
// goroutine looks for them. The zero value is ready.
type Waiters struct {
	queue    poll.Queue
	watching atomic.Bool // a goroutine looks on behalf of those in queue
}

// Queue is half of a poll.Source.
func (w *Waiters) Queue() *poll.Queue { return &w.queue }

// Poll is the other half: In if filled says so.
func (w *Waiters) Poll(filled func() bool) poll.Events {
	if filled() {
		return poll.In
	}
	if w.queue.Waited() && w.watching.CompareAndSwap(false, true) {
		go w.watch(filled)
	}
	return 0
}

// watch wakes those who wait when there is something, until nothing waits any more.
func (w *Waiters) watch(filled func() bool) {
	for {
		for w.queue.Waited() {
			time.Sleep(period)
			if filled() {
				w.queue.Notify(poll.In)
			}
		}
		w.watching.Store(false)
		// Somebody may have joined the queue before that, and found a watch in progress.
		if !w.queue.Waited() || !w.watching.CompareAndSwap(false, true) {
			return
		}
	}
}

// Poll implements poll.Source: In if a record may be there.
func (r *Ring) Poll() poll.Events { return r.waiters.Poll(r.filled) }

// Queue implements poll.Source.
func (r *Ring) Queue() *poll.Queue { return r.waiters.Queue() }

// filled reports whether there are records, or room that was discarded.
func (r *Ring) filled() bool {
	for i := range r.writers {
		if w := &r.writers[i]; w.done.Load() != w.tail.Load() {
			return true
		}
	}
	return false
}
