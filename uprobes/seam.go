package uprobes

import (
	"slices"

	"sonde/arch/amd64"
	"sonde/arch/amd64/goabi"
	"sonde/probe/glass"
	"sonde/probe/ledger"
)

// A seam is a member that a camera has put between those of users.
type seam struct {
	member
	c    *Camera
	what seamKind
	of   *member // what it is beside
	// executes says that the instruction is next; final, that the hit is over after it.
	executes, final bool

	hits  Uprobe
	calls Uretprobe
}

type seamKind uint8

const (
	hitBegins   seamKind = iota // first of a hit
	handlerNext                 // that of of
	handlerWas                  // the same
	callBegins                  // in front of all probes of calls
	callEnds                    // after them
	hitEnds                     // last of a hit
)

// aboutCalls is what members want that have to do with calls: those that begin there, and returns of Go.
const aboutCalls = wantsEntry | wantsStay | wantsReturn

// weave puts seams between the members of a point, of which own is c's. mu held.
func (c *Camera) weave(pt *point, all []*member, own *member) (woven []*member) {
	if _, known := c.room[pt]; !known {
		c.room[pt] = pt.entries.Load()
	}
	is := func(wants uint8) func(*member) bool { return func(m *member) bool { return m.wants&wants != 0 } }
	first := slices.IndexFunc(all, is(aboutCalls))
	last := len(all) - 1
	for last > first && !is(aboutCalls)(all[last]) {
		last--
	}
	entered := slices.ContainsFunc(all, (*member).begins)
	add := func(what seamKind, of *member) *seam {
		s := c.newSeam(pt, what, of)
		woven = append(woven, &s.member)
		return s
	}
	add(hitBegins, own)
	for i, m := range all {
		if i == first {
			add(callBegins, m)
		}
		shown := m.camera == nil && !m.ends()
		if shown {
			add(handlerNext, m)
		}
		woven = append(woven, m)
		if shown {
			add(handlerWas, m)
		}
		if first >= 0 && i == last {
			add(callEnds, m).executes = entered
		}
	}
	s := add(hitEnds, own)
	s.executes, s.final = !entered, first < 0
	return woven
}

// newSeam makes a seam beside a member. mu held.
func (c *Camera) newSeam(pt *point, what seamKind, of *member) *seam {
	s := &seam{c: c, what: what, of: of}
	s.member = member{u: &s.hits, seam: s, pid: of.pid, vaddr: of.vaddr, process: of.process, point: pt, idle: make(chan struct{}),
		trapSafe: !c.Blocks, careful: true, Counter: new(ledger.Counter)}
	s.hits.Handler = func(_ *Uprobe, r *amd64.Regs) { s.hit(here(), r) }
	s.code[0] = goabi.CodeOf(s.hits.Handler)
	if of.wants&aboutCalls != 0 && what != hitBegins && what != hitEnds {
		s.member.ret, s.wants = &s.calls, of.wants
		s.calls.Handler = func(_ *UretprobeInstance, r *amd64.Regs) { s.returns(here(), r) }
		if of.begins() {
			s.wants |= wantsMore
			s.calls.EntryHandler = func(in *UretprobeInstance, r *amd64.Regs) int { return s.enters(here(), in, r) }
		}
	}
	c.seams = append(c.seams, s)
	return s
}

// hit is what a hit calls.
func (s *seam) hit(th *thread, r *amd64.Regs) {
	c := s.c
	switch {
	case th == nil:
	case s.what == hitBegins:
		c.begins(th, s.point, r)
	case !c.records(th):
	case s.what == handlerNext:
		c.enters(th, s.of, r, glass.Pre, unregistered|abandoned|disabled)
	case s.what == handlerWas:
		c.returned(th, s.of, r, glass.Pre)
	case s.executes:
		c.executes(th, s, r)
	}
}

// enters is what a call calls when it begins. It does not return 0 if the call is not recorded.
func (s *seam) enters(th *thread, in *UretprobeInstance, r *amd64.Regs) int {
	c := s.c
	if th == nil || !c.records(th) {
		return 1
	}
	asks := s.of.ret.EntryHandler != nil
	switch {
	case s.what == callBegins && s.wants&wantsEntry != 0:
		c.shoot(th, r, glass.Replaced, nil, r.SP, in.RetAddr)
	case s.what == callBegins:
		c.shoot(th, r, glass.Awaited, nil, r.SP, in.RetAddr)
	case s.what == handlerNext && asks:
		c.enters(th, s.of, r, glass.Entry, unregistered|abandoned|disabled)
	case s.what == handlerWas && asks:
		c.returned(th, s.of, r, glass.Entry)
	case s.what == callEnds:
		c.executes(th, s, r)
		c.phase.CompareAndSwap(inHit, inCall)
	}
	return 0
}

// returns is what a call calls when it has returned, and what a return of Go's calls, which has to be of
// the recorded hit.
func (s *seam) returns(th *thread, r *amd64.Regs) {
	c := s.c
	if th == nil || s.wants&wantsReturn != 0 && !c.records(th) || c.phase.Load() >= over {
		return
	}
	switch s.what {
	case callBegins:
		c.comesBack(th, s, r)
	case handlerNext:
		c.enters(th, s.of, r, glass.Return, unregistered|abandoned)
	case handlerWas:
		c.returned(th, s.of, r, glass.Return)
	case callEnds:
		c.shoot(th, r, glass.GoesBack, nil, 0, 0)
		c.finish()
	}
}
