package event

import (
	"syscall"

	"sonde/kernel/grace"
	"sonde/kernel/refusal"
	"sonde/probe/attach"
)

// Provider is the attach.Provider of tracepoints.
type Provider struct{}

// Can is part of attach.Provider.
func (Provider) Can(attach.Kind) attach.Ability { return 0 }

// Attach is part of attach.Provider.
//
// Errors: ENOENT there is no such tracepoint; those of the place that it stands for.
func (Provider) Attach(l *attach.Link, sites []attach.Site) (attach.Attachment, grace.Change, error) {
	return attach.Each(sites, func(s *attach.Site) (attach.Attachment, grace.Change, error) { return newPoint(l, s) })
}

// A point is a tracepoint that a link is attached to. It implements attach.Attachment.
type point struct {
	event *Event
	place *attach.Place
	to    attach.Handler
	inner *attach.Link // at the place that the event stands for
	last  []last       // by CPU
}

// last is what a CPU runs: see fillRuntime.
type last struct {
	g     uintptr // the runtime never frees one
	since int64   // ns since boot
}

func newPoint(l *attach.Link, s *attach.Site) (_ attach.Attachment, c grace.Change, err error) {
	e, err := Find(s.Symbol)
	if err != nil {
		return nil, c, err
	}
	p := &point{event: e, place: &attach.Place{Link: l, Site: s, Where: s.String()}, to: l.Handler, last: make([]last, maxCPUs)}
	if p.to == nil {
		p.to = func(*attach.Hit) {}
	}
	o := &attach.Options{Owner: l.Options.Owner, Disabled: l.Options.Disabled}
	if e.Name == "irq_handler_exit" { // by then the registers have the vector no more
		o.Data, o.Entry = 1, noteVector
	}
	sites, err := attach.ParseSites(e.places...)
	for i := range sites {
		sites[i].Cookie, sites[i].Stands = s.Cookie, true
	}
	if err == nil {
		p.inner, c, err = attach.Begin(sites, p.hit, o)
	}
	if err != nil {
		return nil, c, refusal.New(syscall.ENOENT, "tracepoint %s: %v", e, err)
	}
	return p, c, nil
}

func (p *point) Detach() grace.Change { return p.inner.Detach() }

// Enable is part of attach.Attachment.
//
// Errors: those of attach.Link's Enable.
func (p *point) Enable(on bool) error { return p.inner.Enable(on) }

func (p *point) Places() []attach.Placed {
	at := attach.Placed{Place: p.place, Way: "probe", Ledger: p.inner.Ledger()}
	for _, in := range p.inner.Places() {
		at.Disabled = in.Disabled
	}
	return []attach.Placed{at}
}
