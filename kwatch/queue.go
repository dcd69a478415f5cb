package kwatch

import "sync/atomic"

// A Queue passes hits from handlers, on any CPU, to one goroutine. The zero Queue is empty.
type Queue struct {
	put, taken atomic.Uint64
	lost       atomic.Uint64
	hits       [256]struct {
		hit    Hit
		number atomic.Uint64 // 1 more than the hit's, once the hit is stored
	}
}

// Put adds a copy of h. If the queue is full, the hit is counted as lost.
//
// Context: any.
func (q *Queue) Put(h *Hit) {
	for {
		n := q.put.Load()
		if n-q.taken.Load() >= uint64(len(q.hits)) {
			q.lost.Add(1)
			return
		}
		if q.put.CompareAndSwap(n, n+1) {
			e := &q.hits[n%uint64(len(q.hits))]
			e.hit = *h
			e.number.Store(n + 1)
			return
		}
	}
}

// Take returns the next hit, if there is one.
//
// Context: only one goroutine at a time.
func (q *Queue) Take() (h Hit, ok bool) {
	n := q.taken.Load()
	e := &q.hits[n%uint64(len(q.hits))]
	if e.number.Load() != n+1 {
		return Hit{}, false
	}
	h = e.hit
	q.taken.Store(n + 1)
	return h, true
}

// Lost returns how many hits did not fit.
//
// Context: any.
func (q *Queue) Lost() uint64 { return q.lost.Load() }
