// Package futex has the queues of threads that wait for a word of memory to change.
//
// A waiter reads the word under the lock of its key's bucket, and a waker changes the word
// before it wakes, so that a wake between reading and sleeping is not lost. The caller
// reads and changes the word itself.
//
// Rejected: one lock for all. Threads of many programs meet here at every contended lock;
// hashed buckets cost nothing and keep them apart.
package futex

import (
	"container/list"
	"hash/maphash"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// buckets is a power of two, far above the number of CPUs.
const buckets = 256

// Table is a set of queues. Use New. Its methods may be called by several
// goroutines.
//
// Locks: bucket.mu of two buckets, in the order of their index (Requeue).
type Table[K comparable] struct {
	seed    maphash.Seed
	buckets [buckets]bucket[K]
}

type bucket[K comparable] struct {
	mu      sync.Mutex
	waiters list.List // guarded by mu: each a *waiter[K], the longest waiting first
}

// waiter is one that waits; it is in the list of its key's bucket.
type waiter[K comparable] struct {
	key    K
	bitset uint32
	wake   chan struct{} // capacity 1
	in     atomic.Int32  // its bucket, or woken; changed with the bucket's mu held
	at     *list.Element // in the bucket; guarded by its mu
}

// woken is where a waiter is that a wake took out.
const woken = -1

// New makes an empty table.
func New[K comparable]() *Table[K] { return &Table[K]{seed: maphash.MakeSeed()} }

func (t *Table[K]) index(key K) int { return int(maphash.Comparable(t.seed, key) % buckets) }

// Wait sleeps until a wake of key, the end of the time (zero: none), or a token
// in cancel. It calls look with the queue locked; if that fails there is no sleep.
//
// Errors: those of look; ETIMEDOUT; EINTR.
func (t *Table[K]) Wait(key K, bitset uint32, look func() error, end time.Time, cancel <-chan struct{}) error {
	w := &waiter[K]{key: key, bitset: bitset, wake: make(chan struct{}, 1)}
	i := t.index(key)
	if err := t.buckets[i].enter(w, i, look); err != nil {
		return err
	}
	err := sleep(w.wake, end, cancel)
	if err != nil && !t.leave(w) {
		return nil // a wake came first: it must not be lost
	}
	return err
}

func sleep(wake <-chan struct{}, end time.Time, cancel <-chan struct{}) error {
	var late <-chan time.Time
	if !end.IsZero() {
		timer := time.NewTimer(time.Until(end))
		defer timer.Stop()
		late = timer.C
	}
	select {
	case <-wake:
		return nil
	case <-late:
		return syscall.ETIMEDOUT
	case <-cancel:
		return syscall.EINTR
	}
}

// leave takes w out of its queue and reports whether it was in one. Requeue may
// move it meanwhile.
func (t *Table[K]) leave(w *waiter[K]) bool {
	for {
		i := w.in.Load()
		if i == woken {
			return false
		}
		if t.buckets[i].leave(w, i) {
			return true
		}
	}
}

// Wake wakes at most n of those that wait for key with a bit of bitset, the
// longest waiting first, and returns how many.
func (t *Table[K]) Wake(key K, n int, bitset uint32) int {
	b := &t.buckets[t.index(key)]
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.wake(key, n, bitset)
}

// Requeue wakes at most wake of those that wait for from, and lets at most move
// of the others wait for to. It calls look with the queues locked; if that fails
// nothing happens.
//
// Errors: those of look.
func (t *Table[K]) Requeue(from, to K, wake, move int, look func() error) (awake, moved int, err error) {
	i, j := t.index(from), t.index(to)
	unlock := t.lockBoth(i, j)
	defer unlock()
	if err := look(); err != nil {
		return 0, 0, err
	}
	awake = t.buckets[i].wake(from, wake, ^uint32(0))
	if from == to {
		return awake, 0, nil
	}
	t.buckets[i].each(func(w *waiter[K]) bool {
		if moved < move && w.key == from {
			t.buckets[i].waiters.Remove(w.at)
			w.key = to
			t.buckets[j].add(w, j)
			moved++
		}
		return moved < move
	})
	return awake, moved, nil
}

// Both wakes those that wait for a, and, if change says so, those for b:
// FUTEX_WAKE_OP. It calls change with both queues locked.
//
// Errors: those of change.
func (t *Table[K]) Both(a, b K, na, nb int, change func() (bool, error)) (awake int, err error) {
	i, j := t.index(a), t.index(b)
	unlock := t.lockBoth(i, j)
	defer unlock()
	second, err := change()
	if err != nil {
		return 0, err
	}
	awake = t.buckets[i].wake(a, na, ^uint32(0))
	if second {
		awake += t.buckets[j].wake(b, nb, ^uint32(0))
	}
	return awake, nil
}

func (t *Table[K]) lockBoth(i, j int) (unlock func()) {
	i, j = min(i, j), max(i, j)
	t.buckets[i].mu.Lock()
	if i != j {
		t.buckets[j].mu.Lock()
	}
	return func() {
		if i != j {
			t.buckets[j].mu.Unlock()
		}
		t.buckets[i].mu.Unlock()
	}
}

// Waiting returns how many wait, for all keys.
func (t *Table[K]) Waiting() (n int) {
	for i := range t.buckets {
		n += t.buckets[i].waiting()
	}
	return n
}
