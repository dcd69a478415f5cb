//go:build tamago

package kwatch

import (
	"unsafe"

	"sonde/kernel/cpu"
	"sonde/probe/ring"
)

// A Queue passes hits from handlers to a goroutine. It is a poll.Source.
type Queue struct{ *ring.Ring }

// NewQueue makes an empty queue for some hundred hits on each CPU.
func NewQueue() (Queue, error) {
	r, err := ring.New(cpu.Num(), 32<<10)
	return Queue{r}, err
}

// Put adds a copy of h. If the queue is full, the hit is counted as lost.
//
// Context: h's handler.
func (q Queue) Put(h *Hit) {
	w := q.Writer(h.CPU)
	if p := w.Reserve(unsafe.Sizeof(*h), cpu.Nanotime()); p != nil {
		*(*Hit)(p) = *h // Safe because: the record is that large, and a Hit has no pointers.
		w.Submit()
	}
}

// Next takes the oldest hit, if there is one.
func (q Queue) Next() (h Hit, ok bool) {
	rec, ok := q.Take(nil)
	if ok {
		h = *(*Hit)(unsafe.Pointer(unsafe.SliceData(rec.Data))) // Safe because: Put has written it.
	}
	return h, ok
}
