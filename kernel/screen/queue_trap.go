package screen

// Trap context. Writers interrupt each other at any instruction, and none waits.

import "sync/atomic"

// queueSize is how many bytes wait at most: a screenful. More are lost, and counted.
const queueSize = 16 << 10

// queue holds bytes for whoever draws. A writer takes a place by compare-and-swap and
// then fills it; what is after a place not filled yet waits.
type queue struct {
	head, tail atomic.Uint32 // tail is written by the drawer
	lost       atomic.Uint32
	slots      [queueSize]atomic.Uint32
}

// filled is what a slot holds besides the byte, when place t of the queue is in it.
func filled(t uint32) uint32 { return (t/queueSize + 1) << 8 }

// put is nosplit because the runtime prints on stacks of its own.
//
//go:nosplit
func (q *queue) put(c byte) {
	for {
		h := q.head.Load()
		if h-q.tail.Load() >= queueSize {
			q.lost.Add(1)
			return
		}
		if q.head.CompareAndSwap(h, h+1) {
			q.slots[h%queueSize].Store(filled(h) | uint32(c))
			return
		}
	}
}

// get returns the next byte; not ok if there is none, or it is not there yet.
func (q *queue) get() (c byte, ok bool) {
	t := q.tail.Load()
	v := q.slots[t%queueSize].Load()
	if v&^0xff != filled(t) {
		return 0, false
	}
	q.tail.Store(t + 1)
	return byte(v), true
}

// waiting reports whether get would return a byte.
func (q *queue) waiting() bool {
	t := q.tail.Load()
	return q.slots[t%queueSize].Load()&^0xff == filled(t)
}

// skip gives up the place that get waits for, if there is one.
func (q *queue) skip() bool {
	t := q.tail.Load()
	if t == q.head.Load() {
		return false
	}
	q.tail.Store(t + 1)
	return true
}
