// Package poll tells when something can be read or written, and waits for that.
//
// A Source has a state, Poll, and a Queue of waiters to notify when the state may have
// changed. A waiter joins the queue first and then reads the state, so no change can be
// missed. Everything that blocks a program on a file uses this package: read, write, poll,
// select and epoll.
//
// Rejected: blocking inside each kind of file. Each would have its own loop that must
// notice signals, and poll would need a second mechanism anyway.
//
// Locks: Queue.mu is a leaf. Wake functions are called under it.
package poll

import (
	"sync"
	"sync/atomic"

	"sonde/kernel/abi"
)

// Events is a set of poll(2)'s bits.
type Events uint32

// The bits.
const (
	In    Events = abi.POLLIN
	Pri   Events = abi.POLLPRI
	Out   Events = abi.POLLOUT
	Err   Events = abi.POLLERR
	Hup   Events = abi.POLLHUP
	Nval  Events = abi.POLLNVAL
	Msg   Events = abi.POLLMSG
	RdHup Events = abi.POLLRDHUP
)

// always are the events that are reported whether or not they are asked for.
const always = Err | Hup

// Source is something that can be waited for. Neither method blocks.
type Source interface {
	Poll() Events
	Queue() *Queue
}

// Queue has the waiters of a source. The zero value is ready.
type Queue struct {
	n  atomic.Int32 // waiters, so that Notify is one load when there are none
	mu sync.Mutex
	// guarded by mu:
	first, last *Waiter
}

// Waiter is a place in a queue. It is in one queue at a time.
type Waiter struct {
	Mask Events // Err and Hup come along
	Wake func() // must neither block nor use the queue

	next, prev *Waiter // guarded by the queue's mu
}

// Add puts w at the end of the queue.
func (q *Queue) Add(w *Waiter) {
	q.mu.Lock()
	defer q.mu.Unlock()
	w.prev, w.next = q.last, nil
	if q.last != nil {
		q.last.next = w
	} else {
		q.first = w
	}
	q.last = w
	q.n.Add(1)
}

// Remove takes w, which must be in the queue, out. Afterwards Wake is not called.
func (q *Queue) Remove(w *Waiter) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if w.prev != nil {
		w.prev.next = w.next
	} else {
		q.first = w.next
	}
	if w.next != nil {
		w.next.prev = w.prev
	} else {
		q.last = w.prev
	}
	w.next, w.prev = nil, nil
	q.n.Add(-1)
}

// Waited reports whether anybody is in the queue.
func (q *Queue) Waited() bool { return q.n.Load() != 0 }

// Notify wakes the waiters for one of the events. The state must have
// changed before.
func (q *Queue) Notify(ev Events) {
	if q.Waited() {
		q.notify(ev)
	}
}

func (q *Queue) notify(ev Events) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for w := q.first; w != nil; w = w.next {
		if ev&(w.Mask|always) != 0 {
			w.Wake()
		}
	}
}
