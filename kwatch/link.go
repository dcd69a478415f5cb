package kwatch

import (
	"fmt"
	"slices"
	"syscall"

	"sonde/kernel/grace"
	"sonde/kernel/refusal"
	"sonde/probe/attach"
)

// Provider is the attach.Provider of watchpoints. Handlers of those in programs may block.
type Provider struct{}

// ofProcess makes the point of a place in a process, with the address and the length unless the place is in a file;
// inAll watches a place of a file in all processes. They are nil if this kernel runs no programs.
var (
	ofProcess func(at *attach.Place, addr uintptr, length int) (*point, error)
	inAll     func(at *attach.Place) (attach.Attachment, error)
)

// Can is part of attach.Provider.
func (Provider) Can(attach.Kind) attach.Ability { return attach.Processes | attach.Blocks }

// Attach is part of attach.Provider.
//
// Errors: those of RegisterKwatchSymbol and RegisterKwatchUser; EINVAL the handler may block and the
// place is in the kernel.
func (Provider) Attach(l *attach.Link, sites []attach.Site) (_ attach.Attachment, c grace.Change, err error) {
	if slices.ContainsFunc(sites, ofFile) {
		return attach.Each(sites, func(s *attach.Site) (attach.Attachment, grace.Change, error) { return one(l, s) })
	}
	a := make(attachment, len(sites))
	for i := range sites {
		p, err := linked(&attach.Place{Link: l, Site: &sites[i]})
		if err != nil {
			return nil, c, attach.Misplaced(sites[i], err)
		}
		p.disabled.Store(l.Options.Disabled)
		a[i] = p
	}
	c, err = begin(a)
	return a, c, err
}

// ofFile reports whether a place is in all processes of a file.
func ofFile(s attach.Site) bool { return s.File != "" && s.PID == 0 }

// one is Attach for one place.
func one(l *attach.Link, s *attach.Site) (a attach.Attachment, c grace.Change, err error) {
	switch {
	case !ofFile(*s):
		return Provider{}.Attach(l, []attach.Site{*s})
	case inAll == nil:
		err = errNoPrograms
	default:
		a, err = inAll(&attach.Place{Link: l, Site: s})
	}
	if err != nil {
		return nil, c, attach.Misplaced(*s, err)
	}
	return a, c, nil
}

var errNoPrograms = refusal.New(syscall.ENOSYS, "this kernel runs no programs")

// linked makes the point of a place.
func linked(at *attach.Place) (p *point, err error) {
	s := *at.Site
	pid := s.PID
	s.PID = 0
	var addr uintptr
	var length int
	if s.File == "" {
		addr, length, err = At(s)
	}
	switch {
	case err != nil:
		return nil, err
	case pid != 0 && s.File == "" && s.Symbol != "":
		return nil, refusal.New(syscall.EINVAL, "give the address: %s is a name of the kernel's", s.Symbol)
	case pid == 0 && at.Link.Options.Block:
		return nil, refusal.New(syscall.EINVAL, "a watchpoint in the kernel has no handlers that block")
	case pid == 0:
		p = &point{addr: addr, length: length, typ: s.Access, place: at, handler: handlerOf(at)}
	case ofProcess == nil:
		return nil, errNoPrograms
	default:
		p, err = ofProcess(at, addr, length)
	}
	if err == nil {
		at.Addr, at.Where = uint64(p.addr), p.what()
	}
	return p, err
}

// attachment is a link's watchpoints. It implements attach.Attachment and attach.Selection.
type attachment []*point

func (a attachment) Detach() grace.Change {
	mu.Lock()
	defer mu.Unlock()
	return leave(a)
}

// Enable is part of attach.Attachment.
//
// Errors: those of EnableKwatch.
func (a attachment) Enable(on bool) error {
	mu.Lock()
	defer mu.Unlock()
	return enable(a, on)
}

func (a attachment) Places() []attach.Placed {
	list := make([]attach.Placed, len(a))
	for i, p := range a {
		list[i] = attach.Placed{Place: p.place, Way: fmt.Sprintf("debug register %d", p.reg),
			Disabled: p.disabled.Load() || p.gone.Load(), Ledger: p.accounts.Ledger()}
	}
	return list
}

func (a attachment) Skipped() int { return 0 }

// Summary is part of attach.Selection: what is not seen.
func (a attachment) Summary() string {
	for _, p := range a {
		if text := Unseen(p.typ); text != "" {
			return text
		}
	}
	return ""
}
