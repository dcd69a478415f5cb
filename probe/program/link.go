package program

import (
	"slices"
	"sync/atomic"
	"syscall"

	"sonde/bpf"
	"sonde/kernel/grace"
	"sonde/kernel/refusal"
	"sonde/probe/attach"
)

// A Link is a program that is attached to places.
type Link struct {
	ID    int
	Prog  *Prog
	Extra any // of whoever attached it

	attach.Parts               // links, by the version of the program that they call
	passed       atomic.Uint64 // hits for which the program was not called

	pins   int  // guarded by Prog.mu
	closed bool // guarded by Prog.mu: it calls the program no more
}

// suits returns why the program cannot be attached to one of sites, whose hits give it something else.
func (p *Prog) suits(sites []attach.Site) error {
	for _, s := range sites {
		if event := s.Kind == attach.Event; event != (p.Type() == bpf.Tracepoint) || !event && !p.seesRegisters() {
			return refusal.New(syscall.EINVAL, "program %s: a %s program is not for a %s: it finds something else there", p.Checked.Program.Name, p.Type(), s.Kind)
		}
	}
	return nil
}

// Close detaches the program from the link's places. A link with a file in /sys/fs/bpf stays until that
// is removed. The counts stay readable.
//
// Context: goroutine, not a handler.
func (l *Link) Close() {
	l.Prog.mu.Lock()
	defer l.Prog.mu.Unlock()
	if l.pins == 0 {
		l.close()
	}
}

// close is Close for a link without files. Called with Prog.mu held.
func (l *Link) close() {
	var c grace.Change
	l.detach(&c)
	c.Complete()
}

// detach is close. Called with Prog.mu held, until c is complete.
func (l *Link) detach(c *grace.Change) {
	if l.closed {
		return
	}
	l.closed = true
	*c = c.With(l.Parts.Detach())
	c.Then = append(c.Then, func() {
		l.Prog.past = l.Prog.past.Plus(l.Ledger())
		allLinks.remove(l)
		l.Prog.links = slices.DeleteFunc(l.Prog.links, func(o *Link) bool { return o == l })
	})
}

// Detach closes the links of programs, but those that a file keeps, with one wait for all CPUs.
//
// Context: goroutine, not a handler.
func Detach(all []*Prog) {
	var c grace.Change
	for _, p := range all {
		p.mu.Lock()
		p.detach(&c)
		c.Then = append(c.Then, p.mu.Unlock)
	}
	c.Complete()
}

// keep is part of Object: what keeps a link keeps its program.
func (l *Link) keep(n int) error {
	p := l.Prog
	p.mu.Lock()
	defer p.mu.Unlock()
	if l.closed {
		return refusal.New(syscall.EBADF, "link %d is closed", l.ID)
	}
	l.pins += n
	p.users += n
	if l.pins == 0 && p.closed {
		l.close()
	}
	p.drop()
	return nil
}
