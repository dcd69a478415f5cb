package program

import (
	"slices"
	"syscall"

	"sonde/kernel/grace"
	"sonde/kernel/refusal"
	"sonde/probe/attach"
	"sonde/probe/ledger"
)

// Through calls a program for a hit, or does not. A program that has a record gets the hit's Data.
type Through func(h *attach.Hit, program attach.Handler) (called bool)

// Options say how a program is attached. The zero value, or nil, is the usual case.
type Options struct {
	attach.Options
	// Through calls the program at the hits that are meant: what it is not called for is no hit of the program. With
	// nil, the program is called at each, if it is of the type for the places: for tracepoints Tracepoint, elsewhere
	// one that sees registers.
	Through Through
	Held    bool // the link is held, as by Hold
}

// Attach calls the program at the hits of sites, whose cookies are what helper 174 returns. A program that was closed,
// and is held, is attached until the link that is returned was held and released. o may be nil.
//
// Errors: those of attach.Attach; EBADF the program is closed, and nothing holds it; EACCES it is Rare, and a site
// is not of kind Every; EINVAL it is of another type.
func (p *Prog) Attach(sites []attach.Site, o *Options) (*Link, error) {
	var c grace.Change
	l, err := p.Begin(&c, sites, o)
	c.Complete()
	return l, err
}

// AttachTo is Attach for places as people type them.
//
// Errors: those of attach.ParseSites and Attach.
func (p *Prog) AttachTo(o *Options, places ...string) (*Link, error) {
	sites, err := attach.ParseSites(places...)
	if err != nil {
		return nil, err
	}
	return p.Attach(sites, o)
}

// Begin is Attach for code that changes more with the same wait for all CPUs. What is left to do comes after c,
// also if there is an error. The program is locked until c is complete.
func (p *Prog) Begin(c *grace.Change, sites []attach.Site, o *Options) (*Link, error) {
	if o == nil {
		o = new(Options)
	}
	p.mu.Lock()
	l := &Link{Prog: p}
	err := l.begin(c, sites, o)
	switch {
	case err != nil:
		*c = c.With(l.Parts.Detach())
	case o.Held:
		l.pins++
		p.users++
	}
	c.Then = append(c.Then, func() {
		if err == nil {
			p.links = append(p.links, l)
			allLinks.add(l)
		}
		p.mu.Unlock()
	})
	if err != nil {
		return nil, err
	}
	return l, nil
}

// begin attaches to places, or to some of them if there is an error. Called with Prog.mu held.
func (l *Link) begin(c *grace.Change, sites []attach.Site, o *Options) (err error) {
	p := l.Prog
	if o.Through == nil {
		if err := p.suits(sites); err != nil {
			return err
		}
	}
	if p.gone || p.closed && p.users == 0 {
		return refusal.New(syscall.EBADF, "program %s is closed", p.Checked.Program.Name)
	}
	if p.rare && slices.ContainsFunc(sites, func(s attach.Site) bool { return s.Kind != attach.Every }) {
		return refusal.New(syscall.EACCES, "program %s may take longer than a hit can wait: it was loaded for intervals", p.Checked.Program.Name)
	}
	for skip := kernels; skip <= maxSkip && err == nil; skip++ {
		group := slices.DeleteFunc(slices.Clone(sites), func(s attach.Site) bool { return skipOf(s) != skip })
		if len(group) == 0 && (len(sites) > 0 || skip != kernels) {
			continue
		}
		err = l.attach(c, skip, group, o)
	}
	return err
}

// attach attaches to places that are seen alike. Called with Prog.mu held.
func (l *Link) attach(c *grace.Change, skip int, sites []attach.Site, o *Options) error {
	v, err := l.Prog.of(skip)
	if err != nil {
		return err
	}
	with := o.Options
	if o.Through == nil && l.Prog.seesRegisters() {
		with.Fuse = fuser{v}
	}
	return l.Parts.Begin(c, sites, l.handler(v, sites, o.Through), &with)
}

// handler is what calls the program at sites.
func (l *Link) handler(v *version, sites []attach.Site, through Through) attach.Handler {
	f := handler(&v.door)
	if slices.ContainsFunc(sites, attach.Site.OfPrograms) {
		f = handler(&v.soft)
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
func (l *Link) Ledger() ledger.Ledger {
	passed := l.passed.Load() // before the places are asked: what comes meanwhile is theirs
	sum := l.Parts.Ledger()
	sum.Entered -= passed
	sum.Handled -= passed
	return sum
}
