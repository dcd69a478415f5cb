package proc

import (
	"slices"
	"time"

	"sonde/kernel/abi"
)

// The handlers of probes are called in the goroutine of the thread that hit one, and a
// handler may never return. Its goroutine cannot be taken from it; but when the process is
// to end, the thread ends without that goroutine, which is left behind. If the handler
// returns after all, its goroutine ends.

// What a thread has lent its goroutine to.
const (
	notLent int32 = iota
	inHandler
	leftBehind
)

// patience is how long a thread that is to end may stay in a handler.
const patience = 2 * time.Second

// turn is what interrupts have seen of a thread's goroutine, in a handler.
type turn struct {
	number uint32
	asked  uint32
	since  uint64 // ticks
}

// EnterHandler says that t's goroutine is about to call a handler. Until LeaveHandler the
// thread can end without it: the engines' Exit is called in another goroutine then.
//
// Context: t's goroutine.
func (t *Thread) EnterHandler() {
	t.lent.Store(inHandler)
	if t.work.Load() { // it may be to end already
		t.process.hurryLocked()
	}
}

// LeaveHandler says that the handler has returned. It reports false if t has ended
// meanwhile: its goroutine must leave t alone then, and end.
//
// Context: t's goroutine.
func (t *Thread) LeaveHandler() bool { return t.lent.CompareAndSwap(inHandler, notLent) }

// LeftBehind reports whether t has ended without its goroutine, which called a handler.
//
// Context: any.
func (t *Thread) LeftBehind() bool { return t.lent.Load() == leftBehind }

func (p *Process) hurryLocked() {
	p.table.mu.Lock()
	defer p.table.mu.Unlock()
	if p.exiting || p.execing != nil {
		p.hurry()
	}
}

// hurry is called when threads are to end: those that are in handlers then have some time
// left. mu held.
func (p *Process) hurry() {
	if slices.ContainsFunc(p.threads, func(t *Thread) bool { return t.lent.Load() == inHandler }) {
		time.AfterFunc(patience, p.leaveBehind)
	}
}

// leaveBehind ends the threads that are still in handlers.
func (p *Process) leaveBehind() {
	for _, t := range p.overdue() {
		if t.lent.CompareAndSwap(inHandler, leftBehind) {
			t.makeCurrent()
			t.end()
		}
	}
}

// overdue returns the threads that are to end.
func (p *Process) overdue() []*Thread {
	p.table.mu.Lock()
	defer p.table.mu.Unlock()
	switch {
	case p.exiting:
		return slices.Clone(p.threads)
	case p.execing != nil:
		return slices.DeleteFunc(slices.Clone(p.threads), func(t *Thread) bool { return t == p.execing })
	}
	return nil
}

// depart is the end of t's goroutine. A handler may have ended that by runtime.Goexit:
// then the process cannot go on.
func (t *Thread) depart(ended *bool) {
	if t.LeftBehind() {
		return
	}
	if !*ended {
		t.process.exit(Killed(abi.SIGKILL))
	}
	t.end()
}
