package program

import (
	"testing"

	"sonde/bpf"
	"sonde/probe/attach"
	"sonde/probe/ledger"
)

// hitting is an attachment with hits that come while it is read.
type hitting struct {
	places
	l    ledger.Ledger
	come func()
}

func (h *hitting) Places() []attach.Placed {
	h.come()
	return []attach.Placed{{Ledger: h.l}}
}

// TestAccountWhileHitsCome: an account has no hit as run that was nested, throttled or held, whenever that is counted,
// and tells what is lost from what is in flight or comes meanwhile. Such hits used to be taken for runs.
func TestAccountWhileHitsCome(t *testing.T) {
	in := func(n uint64) ledger.Ledger { return ledger.Ledger{Entered: n, Handled: n} }
	flying := ledger.Ledger{Entered: 3, Handled: 1, InFlight: 2}
	for name, c := range map[string]struct {
		always bool
		before func(p *Prog)
		come   func(p *Prog)
		l      ledger.Ledger
		want   Account
	}{
		"nested ones come":                        {come: func(p *Prog) { p.nested[0].n += 3 }, l: in(10), want: Account{Hits: 7, Run: 7}},
		"more nested ones come than were handled": {come: func(p *Prog) { p.nested[0].n += 3 }, l: in(2), want: Account{}},
		"held ones are in flight":                 {before: func(p *Prog) { p.meters[0].idle = 3 }, l: flying, want: Account{Hits: 3, Held: 3}},
		"throttled ones come": {always: true,
			before: func(p *Prog) { p.meters[0].granted, p.meters[0].throttled = 4, 2 },
			come:   func(p *Prog) { p.meters[0].throttled += 4 }, l: in(10), want: Account{Hits: 6, Run: 4, Throttled: 2}},
		"those that run are in flight": {always: true,
			before: func(p *Prog) { p.meters[0].granted = 3 }, l: flying, want: Account{Hits: 1, Run: 1}},
		"throttled ones are in flight": {always: true,
			before: func(p *Prog) { p.meters[0].throttled = 3 }, l: flying, want: Account{Hits: 3, Throttled: 3}},
		"one is lost": {always: true,
			before: func(p *Prog) { p.meters[0].granted = 9 }, l: in(10), want: Account{Hits: 10, Run: 9, Unexplained: 1}},
		"one is too many": {always: true,
			before: func(p *Prog) { p.meters[0].granted = 4 }, l: flying, want: Account{Hits: 1, Run: 4, Unexplained: -3}},
		"the credit is of other hits than those granted": {always: true,
			before: func(p *Prog) { p.meters[0].granted, p.meters[0].credit = 1, 63 }, l: in(0), want: Account{}},
	} {
		p := mustLoad(t, bpf.Kprobe, "r0 = 0\nexit")
		if err := p.SetBudget(100); err != nil {
			t.Fatal(err)
		}
		nothing := func(*Prog) {}
		if c.before == nil {
			c.before = nothing
		}
		if c.come == nil {
			c.come = nothing
		}
		c.before(p)
		p.always = c.always
		p.links = []*Link{{Parts: attach.Parts{&hitting{l: c.l, come: func() { c.come(p) }}}}}
		if a := p.Account(); a != c.want {
			t.Errorf("%s: %+v, want %+v", name, a, c.want)
		}
		p.links = nil
		p.Close()
	}
}
