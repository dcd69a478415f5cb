package ring

import (
	"time"

	"sonde/kernel/poll"
)

// period is how often a ring is looked into while somebody waits for it.
const period = 10 * time.Millisecond

// Poll implements poll.Source: In if a record may be there.
func (r *Ring) Poll() poll.Events {
	if r.filled() {
		return poll.In
	}
	if r.queue.Waited() && r.watching.CompareAndSwap(false, true) {
		go r.watch()
	}
	return 0
}

// Queue implements poll.Source.
func (r *Ring) Queue() *poll.Queue { return &r.queue }

// filled reports whether there are records, or room that was discarded.
func (r *Ring) filled() bool {
	for i := range r.writers {
		if w := &r.writers[i]; w.done.Load() != w.tail.Load() {
			return true
		}
	}
	return false
}

// watch wakes those who wait when there is something, until nobody waits any more.
func (r *Ring) watch() {
	for {
		for r.queue.Waited() {
			time.Sleep(period)
			if r.filled() {
				r.queue.Notify(poll.In)
			}
		}
		r.watching.Store(false)
		// Somebody may have joined the queue before that, and found a watch in progress.
		if !r.queue.Waited() || !r.watching.CompareAndSwap(false, true) {
			return
		}
	}
}
