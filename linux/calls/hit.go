package calls

import (
	"runtime"
	"sync"
	"sync/atomic"

	"sonde/kernel/attach"
	"sonde/kernel/handler"
	"sonde/kernel/printk"
	"sonde/kernel/probe"
	"sonde/linux/proc"
)

// A call is a system call at which a link is attached.
type call struct {
	place *attach.Place
	probe.Counter
}

// state says whether handlers may run, and which do.
type state struct {
	disabled, abandoned atomic.Bool

	mu   sync.Mutex
	idle sync.Cond // running is empty; with mu
	// guarded by mu:
	closed  bool
	running map[*proc.Thread]*call
}

// enter reports whether a handler of c may run in t now; leave must follow then. It counts what is known
// at this point, with mu held: when drain has returned, nothing is counted any more.
func (s *state) enter(t *proc.Thread, c *call, returns bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case returns:
		c.Flying.Add(-1)
	case s.closed:
		return false // it was detached before
	default:
		c.Count(probe.Entered)
	}
	if s.disabled.Load() || s.abandoned.Load() || s.closed {
		c.Count(probe.Disarmed)
		return false
	}
	s.running[t] = c
	return true
}

// leave says that t's handler runs no more. It returns the call that it was of; nil: that was said
// before, as the thread has ended without its goroutine.
func (s *state) leave(t *proc.Thread) *call {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.running[t]
	delete(s.running, t)
	if len(s.running) == 0 {
		s.idle.Broadcast()
	}
	return c
}

// drain returns when no handler is running, and lets none begin.
func (s *state) drain() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	for len(s.running) > 0 {
		s.idle.Wait()
	}
}

// run calls a handler of c, which counts what became of the hit. If it does not return, none is called
// any more.
//
// Context: t's goroutine.
func (w *watch) run(t *proc.Thread, c *call, returns bool, handler func()) {
	if !w.enter(t, c, returns) {
		return
	}
	done := false
	defer func() {
		alive := t.LeaveHandler()
		if !done && alive {
			c.Count(probe.Abandoned)
			w.fail(c, recover())
		}
		if w.leave(t) == nil || !alive {
			runtime.Goexit() // the thread has ended meanwhile: see exit
		}
	}()
	t.EnterHandler()
	handler()
	done = true
}

// fail disables a link whose handler did not return. The program continues.
func (w *watch) fail(c *call, e any) {
	w.abandoned.Store(true)
	handler.Panicked("calls", c.place.Where, e)
}

// hit is called when t makes a system call.
func (w *watch) hit(t *proc.Thread) {
	for _, c := range w.calls[t.Call()] {
		w.run(t, c, false, func() {
			if f := w.link.Handler; f != nil {
				f(&attach.Hit{Regs: t.Regs(), Place: c.place, IP: t.Regs().IP, MayBlock: true})
			}
			c.Count(probe.Handled)
		})
	}
}

// pending is a call that has not returned.
type pending struct {
	*call
	data []uint64
}

// entered is hit for returns: the call is noted, unless the entry handler declines it.
func (w *watch) entered(t *proc.Thread) {
	for _, c := range w.calls[t.Call()] {
		w.run(t, c, false, func() {
			data := make([]uint64, w.link.Options.Data)
			f := w.link.Options.Entry
			if f != nil && !f(&attach.Hit{Regs: t.Regs(), Place: c.place, IP: t.Regs().IP, MayBlock: true, Data: data}) {
				c.Count(probe.Declined)
				return
			}
			c.Flying.Add(1)
			w.pending.Store(t, append(w.of(t), pending{c, data}))
		})
	}
}

// of returns t's calls that have not returned.
func (a *attachment) of(t *proc.Thread) []pending {
	all, _ := a.pending.Load(t)
	list, _ := all.([]pending)
	return list
}

// returned is called when t's call has returned.
func (w *watch) returned(t *proc.Thread) {
	for _, in := range w.take(t) {
		w.run(t, in.call, true, func() {
			if f := w.link.Handler; f != nil {
				f(&attach.Hit{Regs: t.Regs(), Place: in.place, IP: t.Regs().IP, MayBlock: true, Returns: true, Data: in.data})
			}
			in.Count(probe.Handled)
		})
	}
}

// take is of, and lets nobody else take them.
func (a *attachment) take(t *proc.Thread) []pending {
	all, _ := a.pending.LoadAndDelete(t)
	list, _ := all.([]pending)
	return list
}

// exit is called when t ends: in a call, or without the goroutine that a handler keeps.
func (w *watch) exit(t *proc.Thread, _ proc.Status) {
	w.forget(t, probe.Abandoned)
	if t.LeftBehind() {
		if c := w.leave(t); c != nil {
			c.Count(probe.Abandoned)
			printk.Err("calls: the handler of %s does not return: thread %d ends without it", c.place.Where, t.TID)
		}
	}
}

// forget counts t's calls that have not returned as what became of them.
func (a *attachment) forget(t *proc.Thread, as probe.Event) {
	for _, in := range a.take(t) {
		in.Flying.Add(-1)
		in.Count(as)
	}
}
