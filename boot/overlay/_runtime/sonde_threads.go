package runtime

// The threads of the shim (sonde_shim.go): where they are kept, and what they
// sleep on.
//
// Why it is here: as sonde_shim.go. All of it is called with interrupts off under
// sondeLock and is nosplit.
//
// There are as many threads as memory allows: the runtime makes one per goroutine that is locked to
// its thread or blocks its thread, and crashes if it cannot. So nothing here takes longer because
// many threads sleep, but for the timer interrupt, which looks at those that sleep for a limited
// time.

import (
	"internal/runtime/sys"
	machine "runtime/goos"
	"unsafe"
)

// sondeList is a list of threads by next and prev. A thread is in one at a time:
// of free ones, of runnable ones, or of those that sleep on something.
type sondeList struct {
	_          sys.NotInHeap
	head, tail *sondeThread
}

//go:nosplit
func (l *sondeList) add(t *sondeThread) {
	t.next, t.prev = nil, l.tail
	if l.tail == nil {
		l.head = t
	} else {
		l.tail.next = t
	}
	l.tail = t
}

//go:nosplit
func (l *sondeList) remove(t *sondeThread) {
	if t.prev == nil {
		l.head = t.next
	} else {
		t.prev.next = t.next
	}
	if t.next == nil {
		l.tail = t.prev
	} else {
		t.next.prev = t.prev
	}
	t.next, t.prev = nil, nil
}

// guarded by sondeLock:
var (
	sondeThreads  int32          // how many there are, the free ones included
	sondeUnused   sondeList      // the free ones
	sondeAsleep   [256]sondeList // those that sleep on something, by its hash
	sondeSleepers *sondeThread   // those that sleep for a limited time, by later and earlier
)

// sondeNewThread returns a free thread, nil if there is no memory for one.
//
//go:nosplit
func sondeNewThread() *sondeThread {
	if sondeUnused.head == nil && !sondeMoreThreads() {
		return nil
	}
	t := sondeUnused.head
	sondeUnused.remove(t)
	return t
}

// sondeMoreThreads adds free threads; their memory is never given back.
//
//go:nosplit
func sondeMoreThreads() bool {
	const chunk = 16 << 10
	p := sondeTake(0, chunk)
	if p == 0 {
		return false
	}
	sondeZero(p, chunk)
	size := unsafe.Sizeof(sondeThread{})
	for end := p + chunk; p+size <= end; p += size {
		t := (*sondeThread)(unsafe.Pointer(p))
		sondeThreads++
		t.id, t.wakeAt = sondeThreads, sondeForever
		sondeUnused.add(t)
	}
	return true
}

// sondeFreeThread ends t, which is running.
//
//go:nosplit
func sondeFreeThread(t *sondeThread) {
	t.state, t.mp = sondeFree, 0
	sondeUnused.add(t)
}

// sondeBucket is where threads that sleep on key are.
//
//go:nosplit
func sondeBucket(key uintptr) *sondeList {
	const golden = 0x9e3779b97f4a7c15
	return &sondeAsleep[uint64(key)*golden>>56]
}

// sondeSleeperOn returns the thread that has slept longest on key, nil for none.
//
//go:nosplit
func sondeSleeperOn(key uintptr) *sondeThread {
	for t := sondeBucket(key).head; t != nil; t = t.next {
		if t.key == key {
			return t
		}
	}
	return nil
}

// sondeSleep blocks t, which runs on c, until it is readied (key says by what; 0 is by
// time alone) or, d >= 0, for d nanoseconds.
//
//go:nosplit
func sondeSleep(c *sondeCPU, t *sondeThread, key uintptr, d int64) {
	t.state = sondeBlocked
	if t.key = key; key != 0 {
		sondeBucket(key).add(t)
	}
	if d >= 0 {
		now := machine.Nanotime()
		t.wakeAt = now + min(d, sondeForever-1-now) // sondeForever is no end
		t.earlier, t.later = nil, sondeSleepers
		if sondeSleepers != nil {
			sondeSleepers.earlier = t
		}
		sondeSleepers = t
		c.alarm = min(c.alarm, t.wakeAt)
	}
}

// sondeUnblock takes t from what it sleeps on, if it sleeps.
//
//go:nosplit
func sondeUnblock(t *sondeThread) {
	if t.key != 0 {
		sondeBucket(t.key).remove(t)
		t.key = 0
	}
	if t.wakeAt == sondeForever {
		return
	}
	t.wakeAt = sondeForever
	if t.earlier == nil {
		sondeSleepers = t.later
	} else {
		t.earlier.later = t.later
	}
	if t.later != nil {
		t.later.earlier = t.earlier
	}
}
