package calls

import (
	"sync"
	"sync/atomic"

	"sonde/kernel/printk"
	"sonde/linux/proc"
	"sonde/probe/attach"
	"sonde/probe/handler"
	"sonde/probe/ledger"
)

// A call is a system call at which a link is attached.
type call struct {
	place *attach.Place
	ledger.Counter
}

// state says whether handlers may run, and which do.
type state struct {
	disabled, abandoned atomic.Bool
	most                int // calls in progress at each system call; 0: any number

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
	beyond := false
	switch {
	case returns:
	case s.closed:
		return false // it was detached before
	default:
		n := int(c.Begin())
		beyond = s.most > 0 && n > s.most
	}
	if s.disabled.Load() || s.abandoned.Load() || s.closed {
		c.End(ledger.Disarmed)
		return false
	}
	if beyond {
		c.End(ledger.NoInst)
		return false
	}
	s.running[t] = c
	return true
}

// leave says that t's handler runs no more; done counts what became of the hit.
func (s *state) leave(t *proc.Thread, done func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	done()
	delete(s.running, t)
	if len(s.running) == 0 {
		s.idle.Broadcast()
	}
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

// run calls a handler of c, and then done, which counts what became of the hit. If the handler does not
// return, none is called any more.
//
// Context: t's goroutine.
func (w *watch) run(t *proc.Thread, c *call, returns bool, handler, done func()) {
	if !w.enter(t, c, returns) {
		return
	}
	t.RunHandler(handler, func(returned bool, e any) {
		if !returned {
			done = func() { c.End(ledger.Abandoned) }
			w.fail(c, e)
		}
		w.leave(t, done)
	})
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
		}, func() { c.End(ledger.Handled) })
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
		data, wanted := make([]uint64, w.link.Options.Data), true
		w.run(t, c, false, func() {
			if f := w.link.Options.Entry; f != nil {
				wanted = f(&attach.Hit{Regs: t.Regs(), Place: c.place, IP: t.Regs().IP, MayBlock: true, Data: data})
			}
		}, func() {
			if !wanted {
				c.End(ledger.Declined)
				return
			}
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

// returned is called when t's call has returned. Those whose handlers are still to be called stay pending, in case that
// one does not return.
func (w *watch) returned(t *proc.Thread) {
	for in, ok := w.first(t); ok; in, ok = w.first(t) {
		w.run(t, in.call, true, func() {
			if f := w.link.Handler; f != nil {
				f(&attach.Hit{Regs: t.Regs(), Place: in.place, IP: t.Regs().IP, MayBlock: true, Returns: true, Data: in.data})
			}
		}, func() { in.End(ledger.Handled) })
	}
}

// first takes the first of them.
func (a *attachment) first(t *proc.Thread) (in pending, ok bool) {
	list := a.take(t)
	switch len(list) {
	case 0:
		return in, false
	case 1:
	default:
		a.pending.Store(t, list[1:])
	}
	return list[0], true
}

// take is of, and removes them.
func (a *attachment) take(t *proc.Thread) []pending {
	all, _ := a.pending.LoadAndDelete(t)
	list, _ := all.([]pending)
	return list
}

// exit is called when t ends: in a call, or without the goroutine that a handler keeps.
func (w *watch) exit(t *proc.Thread, _ proc.Status) {
	w.forget(t, ledger.Abandoned)
	if c := w.in(t); c != nil && t.LeftBehind() {
		printk.Err("calls: the handler of %s does not return: thread %d ends without it", c.place.Where, t.TID)
		w.leave(t, func() { c.End(ledger.Abandoned) })
	}
}

// in returns the call whose handler t is in; nil: none.
func (s *state) in(t *proc.Thread) *call {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.running[t]
}

// forget counts t's calls that have not returned as what became of them.
func (a *attachment) forget(t *proc.Thread, as ledger.Event) {
	for _, in := range a.take(t) {
		in.End(as)
	}
}
