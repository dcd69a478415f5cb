package kbpf

import (
	"syscall"

	"sonde/kernel/attach"
	"sonde/kernel/probe"
	"sonde/kernel/refusal"
)

// Through calls a program for a hit, or does not. A program that has a record gets the hit's Data.
type Through func(h *attach.Hit, program attach.Handler) (called bool)

// AttachThrough calls the program at the hits of sites for which through calls it: what it is not called for is
// no hit of the program. With through nil it is called at each. A program that was closed, and is held, is
// attached until the link that is returned was held and released.
//
// Errors: those of attach.Attach; EBADF the program is closed, and nobody holds it.
func (p *Prog) AttachThrough(sites []attach.Site, o *attach.Options, through Through) (*Link, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.gone || p.closed && p.users == 0 {
		return nil, refusal.New(syscall.EBADF, "program %s is closed", p.Checked.Program.Name)
	}
	l := &Link{Prog: p}
	a, err := attach.Attach(sites, l.handler(sites, through), o)
	if err != nil {
		return nil, err
	}
	l.Link = a
	p.links = append(p.links, l)
	allLinks.add(l)
	return l, nil
}

// handler is what calls the program at sites.
func (l *Link) handler(sites []attach.Site, through Through) attach.Handler {
	f := handler(&l.Prog.door)
	for _, s := range sites {
		if s.Kind == attach.Program || s.Kind == attach.Call || s.PID != 0 {
			f = handler(&l.Prog.soft)
		}
	}
	if through == nil {
		return f
	}
	return func(h *attach.Hit) {
		if !through(h, f) {
			l.passed.Add(1)
		}
	}
}

// Ledger is that of the link's places, without the hits for which the program was not called.
func (l *Link) Ledger() probe.Ledger {
	passed := l.passed.Load() // before the places are asked: what comes meanwhile is theirs
	sum := l.Link.Ledger()
	sum.Entered -= passed
	sum.Handled -= passed
	return sum
}
