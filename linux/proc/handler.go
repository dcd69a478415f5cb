package proc

import (
	"runtime"
	"slices"
	"time"

	"sonde/kernel/abi"
)

// Probe handlers are called in the goroutine of the thread that hit the probe, and may
// never return. The goroutine cannot be taken from the handler; but when the process must
// end, the thread ends without that goroutine, which is left behind. If the handler does
// return, its goroutine ends.

// What a thread has lent its goroutine to.
const (
	notLent int32 = iota
	inHandler
	leftBehind
)

// patience is how long a thread that must end may stay in a handler.
const patience = 2 * time.Second

// turn is what interrupts have seen of a thread's goroutine, in a handler.
type turn struct {
	number uint32
	asked  uint32
	since  uint64 // ticks
}

// EnterHandler says that t's goroutine is about to call a handler. Until LeaveHandler the
// thread can end without the goroutine; then the engines' Exit is called in another one.
//
// Context: t's goroutine.
func (t *Thread) EnterHandler() {
	t.lent.Store(inHandler)
	if t.work.Load() { // it may be to end already
		t.process.hurryLocked()
	}
}

// LeaveHandler says that the handler has returned. It returns false if t has ended
// meanwhile: its goroutine must not use t then, and must end.
//
// Context: t's goroutine.
func (t *Thread) LeaveHandler() bool { return t.lent.CompareAndSwap(inHandler, notLent) }

// LeftBehind reports whether t has ended without its goroutine, which called a handler.
//
// Context: any.
func (t *Thread) LeftBehind() bool { return t.lent.Load() == leftBehind }

// RunHandler calls a handler between EnterHandler and LeaveHandler, and then ended: with false if the
// handler has not returned, and e is what it panicked with, nil if it has ended its goroutine. If t has
// ended meanwhile, ended is not called, as the engines' Exit was, and the goroutine ends.
//
// Context: t's goroutine; ended runs in a deferred function.
func (t *Thread) RunHandler(handler func(), ended func(returned bool, e any)) {
	returned := false
	defer func() {
		e := recover()
		if !t.LeaveHandler() {
			runtime.Goexit()
		}
		ended(returned, e)
	}()
	t.EnterHandler()
	handler()
	returned = true
}

func (p *Process) hurryLocked() {
	p.table.mu.Lock()
	defer p.table.mu.Unlock()
	if p.exiting || p.execing != nil {
		p.hurry()
	}
}

// hurry is called when threads must end; threads in handlers get some more time. mu held.
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

// overdue returns the threads that must end.
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

// depart ends t's goroutine. If a handler has ended it by runtime.Goexit, the process
// cannot continue.
func (t *Thread) depart(ended *bool) {
	if t.LeftBehind() {
		return
	}
	if !*ended {
		t.process.exit(Killed(abi.SIGKILL))
	}
	t.end()
}
