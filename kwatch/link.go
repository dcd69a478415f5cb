package kwatch

import (
	"fmt"
	"syscall"

	"sonde/kernel/attach"
	"sonde/kernel/refusal"
)

// Provider is the attach.Provider of watchpoints. Handlers of those in programs may block.
type Provider struct{}

// ofProcess makes the point of a place in a process; nil: this kernel runs no programs.
var ofProcess func(at *attach.Place, addr uintptr, length int) (*point, error)

// Can is part of attach.Provider.
func (Provider) Can(attach.Kind) attach.Ability { return attach.Processes | attach.Blocks }

// Attach is part of attach.Provider.
//
// Errors: those of RegisterKwatchSymbol and RegisterKwatchUser; EINVAL the handler may block and the
// place is in the kernel.
func (Provider) Attach(l *attach.Link, sites []attach.Site) (_ attach.Attachment, c attach.Change, err error) {
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

// linked makes the point of a place.
func linked(at *attach.Place) (p *point, err error) {
	s := *at.Site
	pid := s.PID
	s.PID = 0
	addr, length, err := At(s)
	switch {
	case err != nil:
		return nil, err
	case pid != 0 && s.Symbol != "":
		return nil, refusal.New(syscall.EINVAL, "give the address: %s is a name of the kernel's", s.Symbol)
	case pid == 0 && at.Link.Options.Block:
		return nil, refusal.New(syscall.EINVAL, "a watchpoint in the kernel has no handlers that block")
	case pid == 0:
		p = &point{addr: addr, length: length, typ: s.Access, place: at, handler: handlerOf(at)}
	case ofProcess == nil:
		return nil, refusal.New(syscall.ENOSYS, "this kernel runs no programs")
	default:
		p, err = ofProcess(at, addr, length)
	}
	if err == nil {
		at.Addr, at.Where = uint64(addr), p.what()
	}
	return p, err
}

// attachment is a link's watchpoints.
type attachment []*point

// Detach is part of attach.Attachment.
func (a attachment) Detach() attach.Change {
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

// Places is part of attach.Attachment.
func (a attachment) Places() []attach.Placed {
	list := make([]attach.Placed, len(a))
	for i, p := range a {
		list[i] = attach.Placed{Place: p.place, Way: fmt.Sprintf("debug register %d", p.reg),
			Disabled: p.disabled.Load() || p.gone.Load(), Ledger: p.accounts.Ledger()}
	}
	return list
}

// Skipped is part of attach.Selection.
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
