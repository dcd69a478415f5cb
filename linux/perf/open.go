package perf

import (
	"errors"
	"slices"
	"syscall"

	"sonde/kernel/grace"
	"sonde/kernel/lock"
	"sonde/kernel/printk"
	"sonde/kernel/refusal"
	"sonde/kernel/vfs"
	"sonde/probe/attach"
	"sonde/probe/program"
)

// Open makes an event. It counts from the beginning, unless its attributes say otherwise.
//
// Errors: EINVAL, EOPNOTSUPP the attributes; EINVAL neither a CPU nor a thread is given, or there is no such
// CPU; ENOENT there is no such event; ENOSPC no debug register is free; and those of attach.Attach.
func Open(r *Request) (*vfs.File, error) {
	if err := r.Attr.fits(); err != nil {
		return nil, err
	}
	if r.CPU < -1 || r.CPU >= numCPU() || r.CPU < 0 && r.Thread == nil {
		return nil, refusal.New(syscall.EINVAL, "an event on CPU %d: there are %d; -1 is for events of a thread", r.CPU, numCPU())
	}
	if g := r.Group; g != nil && (g.leader != g || g.cpu != r.CPU || g.thread != r.Thread) {
		return nil, refusal.New(syscall.EINVAL, "the leader of a group counts on another CPU, in another thread, or is in a group itself")
	}
	s, err := sourceOf(r)
	if err != nil {
		return nil, err
	}
	e := newEvent(r, s)
	if err := e.begin(); err != nil {
		return nil, err
	}
	if !r.Attr.has(flagDisabled) {
		if err := e.Enable(true); err != nil {
			e.Close()
			return nil, err
		}
	}
	return e.file(), nil
}

// begin attaches the event to its source, disabled, and puts it into its group.
func (e *Event) begin() error {
	if err := e.attach(); err != nil {
		return err
	}
	e.follow() // before its group can enable it
	if l := e.leader; l != e {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.members = append(l.members, e)
	}
	return nil
}

// attach attaches the event to its source, without a program.
func (e *Event) attach() error {
	if len(e.source.sites) == 0 || e.clock && !e.heard() {
		return nil
	}
	l, err := attach.Attach(slices.Clone(e.source.sites), e.hit, &attach.Options{Owner: "perf", Disabled: !e.enabled})
	if errors.Is(err, syscall.EBUSY) { // by this, programs know that all debug registers are in use
		return refusal.New(syscall.ENOSPC, "%v", err)
	}
	if err == nil {
		e.link = l
	}
	return err
}

// heard reports whether somebody gets the samples of an event that makes some. Called with mu held.
func (e *Event) heard() bool { return e.enabled && !e.closed && e.ring.Load() != nil }

// rearm has a clock without a program tick while it is heard, and only then: its count is the time, and needs no
// ticks. Called with mu held.
func (e *Event) rearm() (err error) {
	switch heard := e.heard(); {
	case !e.clock || e.prog != nil:
	case heard && e.link == nil:
		err = e.attach()
	case !heard && e.link != nil:
		e.link.Close()
		e.link = nil
	}
	return err
}

// listen is rearm when the ring has changed. Only clocks need it: of others, an address space may be in use while
// mu is held.
func (e *Event) listen() {
	if !e.clock {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := e.rearm(); err != nil {
		printk.Warn("perf: event %d makes no samples: %s", e.id, err.Error())
	}
}

// SetProgram has the event run a program, which the caller holds meanwhile, and which finds the cookie at each hit.
//
// Errors: EINVAL the program is of another type, or the event can run none; EEXIST it has one; and those of
// attach.Attach.
func (e *Event) SetProgram(p *program.Prog, cookie uint64) error {
	if len(e.source.sites) == 0 || p.Type() != e.source.takes {
		return refusal.New(syscall.EINVAL, "a program of type %s: this event runs %s", p.Type(), e.runs())
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case e.closed:
		return syscall.EBADF
	case e.prog != nil:
		return refusal.New(syscall.EEXIST, "the event has a program")
	}
	through := e.source.through
	if !e.source.whole {
		through = e.through
	}
	sites := slices.Clone(e.source.sites)
	for i := range sites {
		sites[i].Cookie = cookie
	}
	var c grace.Change
	l, err := p.Begin(&c, sites, &program.Options{Options: attach.Options{Owner: "perf", Disabled: !e.enabled}, Through: through, Held: true})
	if err == nil && e.link != nil {
		c = c.With(e.link.Detach())
	}
	if c.Complete(); err != nil {
		return err
	}
	e.prog, e.link = l, l
	return nil
}

// Program returns the link of the event's program; nil: it has none.
func (e *Event) Program() *program.Link { return lock.Get(&e.mu, &e.prog) }

// DropProgram ends what SetProgram began. The event counts on.
func (e *Event) DropProgram() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.prog == nil {
		return
	}
	old := e.prog
	e.prog, e.link = nil, nil
	program.Release(old)
	old.Close()
	if e.source.whole {
		e.ended += old.Ledger().Handled
	}
	if err := e.attach(); err != nil {
		printk.Warn("perf: event %d counts no more: %s", e.id, err.Error())
	}
}

// runs says what programs an event runs.
func (e *Event) runs() string {
	if len(e.source.sites) == 0 {
		return "none"
	}
	return "those of type " + e.source.takes.String()
}
