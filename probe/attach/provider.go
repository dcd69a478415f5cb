package attach

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"syscall"

	"sonde/arch/amd64/goabi"
	"sonde/kernel/grace"
	"sonde/kernel/refusal"
	"sonde/probe/ledger"
)

// A Provider attaches handlers to places of one kind or several. kprobes, uprobes, kwatch and
// others have one each, and boot gives it to Provide.
type Provider interface {
	// Can says which options a kind knows.
	Can(k Kind) Ability
	// Attach puts the link's handlers on all of sites, or on none, when c is complete, also that of an error.
	// Patterns stand for all places that fit and can be probed; if none can, that is an error.
	//
	// Errors: EINVAL, ENOENT and what else the kind has, each with the place.
	Attach(l *Link, sites []Site) (a Attachment, c grace.Change, err error)
}

// An Attachment is a link's part of one kind.
type Attachment interface {
	// Detach removes the probes. When the change is complete, no CPU and no thread is in a handler.
	Detach() grace.Change
	// Enable lets the handlers be called, or not. Errors: those of the kind; then nothing has changed.
	Enable(on bool) error
	// Places returns where the probes are, in the order of the sites, and by address within a pattern.
	Places() []Placed
}

// A Selection is an Attachment of a kind whose sites may stand for places that cannot be probed.
type Selection interface {
	Attachment
	// Skipped is how many places that fit a pattern, a line or the like cannot be probed.
	Skipped() int
	// Summary says how many of them can, if the kind counts them in other units: "12 of 14 copies".
	Summary() string
}

// Parts are attachments that are used as one.
type Parts []Attachment

// Begin is Begin for a link that becomes one of the parts. What is left to do is added to c.
func (p *Parts) Begin(c *grace.Change, sites []Site, f Handler, o *Options) error {
	l, more, err := Begin(sites, f, o)
	if *c = c.With(more); err == nil {
		*p = append(*p, l)
	}
	return err
}

// Each attaches to each of sites by itself, or to none. What is left to do is in c, also if there is an error.
func Each(sites []Site, attach func(s *Site) (Attachment, grace.Change, error)) (_ Attachment, c grace.Change, err error) {
	var all Parts
	for i := range sites {
		a, more, err := attach(&sites[i])
		if c = c.With(more); err != nil {
			return nil, c.With(all.Detach()), err
		}
		all = append(all, a)
	}
	return all, c, nil
}

// Detach detaches all of them, the last first.
func (p Parts) Detach() (c grace.Change) {
	for _, a := range slices.Backward(p) {
		c = c.With(a.Detach())
	}
	return c
}

// Enable enables or disables all of them, or none.
func (p Parts) Enable(on bool) error {
	var changed Parts
	for _, a := range p {
		was := enabled(a)
		if err := a.Enable(on); err != nil {
			changed.Enable(!on)
			return err
		}
		if was != on {
			changed = append(changed, a)
		}
	}
	return nil
}

// enabled reports whether some handlers of a may be called.
func enabled(a Attachment) bool {
	return slices.ContainsFunc(a.Places(), func(at Placed) bool { return !at.Disabled })
}

// Places returns the places of all of them, each with its counts.
func (p Parts) Places() (all []Placed) {
	for _, a := range p {
		all = append(all, a.Places()...)
	}
	return all
}

// Ledger returns the sums of the counts of all places.
func (p Parts) Ledger() (sum ledger.Ledger) {
	for _, at := range p.Places() {
		sum = sum.Plus(at.Ledger)
	}
	return sum
}

// Skipped is how many places that fit a pattern cannot be probed.
func (p Parts) Skipped() (n int) {
	for _, a := range p {
		if s, ok := a.(Selection); ok {
			n += s.Skipped()
		}
	}
	return n
}

// Summary says how many copies of a function, or places of a line, have a probe; "" for other places.
func (p Parts) Summary() string {
	var all []string
	for _, a := range p {
		if s, ok := a.(Selection); ok && s.Summary() != "" {
			all = append(all, s.Summary())
		}
	}
	return strings.Join(all, "; ")
}

// A Place has one of a link's probes. It does not change.
type Place struct {
	Link  *Link
	Site  *Site  // what was asked for: it may be a pattern
	Where string // as lists show it: vfs.Read+0x0, /bin/sh:0x1ed880, sys:openat
	Addr  uint64 // of an instruction or of data, 0: it has none, or one in each process; of a system call, its number

	Convention goabi.Convention // of a function of a program; attaching says it
}

// Placed is a place with its state.
type Placed struct {
	*Place
	Way      string // how a hit is executed, in the words of the kind
	Disabled bool
	Ledger   ledger.Ledger
}

// An Ability is an option that a kind of probe knows. The names are those of the table in
// docs/attach.md.
type Ability uint16

// The abilities.
const (
	Returns   Ability = 1 << iota // ret: PLACE
	Entries                       // an entry handler, which may decline the call
	Data                          // memory for each call
	Blocks                        // handlers that may block
	Patterns                      // all places that fit
	Processes                     // places of one process
)

var abilityNames = [...]string{"returns", "entry handlers", "data per call", "handlers that block", "patterns", "one process"}

// String names the abilities.
func (a Ability) String() string {
	var names []string
	for i, name := range abilityNames {
		if a&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}

// providers are by kind. Written at boot.
var providers [Event + 1]Provider

// Provide sets the provider of a kind.
//
// Context: boot, goroutine.
func Provide(k Kind, p Provider) { providers[k] = p }

// Fits returns an error if a pattern matches no place, or too many: n is how many it matches.
//
// Errors: ENOENT, E2BIG.
func (l *Link) Fits(n int, what string) error {
	switch most := l.Options.Most; {
	case n == 0:
		return refusal.New(syscall.ENOENT, "there is no such %s", what)
	case most != 0 && n > most:
		return refusal.New(syscall.E2BIG, "%d %ss fit, more than %d; give a longer pattern", n, what, most)
	}
	return nil
}

// Misplaced returns an error that names the place of err. Its text is made when it is asked for,
// since that for an unknown name takes a search.
func Misplaced(s Site, err error) error { return &misplaced{s, err} }

type misplaced struct {
	site Site
	err  error
}

func (m *misplaced) Error() string { return fmt.Sprintf("place %q: %v", m.site, m.err) }
func (m *misplaced) Unwrap() error { return m.err }

// fits returns why a site cannot be attached with these options.
func (s Site) fits(o *Options) error {
	no := func(format string, args ...any) error {
		return refusal.New(syscall.EINVAL, "place %q: "+format, append([]any{s.String()}, args...)...)
	}
	p := providers[s.Kind]
	if p == nil {
		return refusal.New(syscall.ENOSYS, "place %q: this kernel cannot probe a %s", s, s.Kind)
	}
	needs := Ability(0)
	for _, n := range []struct {
		used bool
		a    Ability
	}{{s.Return, Returns}, {o.Entry != nil, Entries}, {o.Data != 0, Data}, {o.Block, Blocks}, {s.Pattern(), Patterns}, {s.PID != 0, Processes}} {
		if n.used {
			needs |= n.a
		}
	}
	switch missing := needs &^ p.Can(s.Kind); {
	case missing != 0:
		return no("a %s has no %s; kinds with it: %s", s.Kind, missing, able(missing))
	case o.Data < 0 || o.Data > MostWords:
		return refusal.New(syscall.ERANGE, "place %q: %d words of data for each call; give 0 to %d", s, o.Data, MostWords)
	case o.Active < 0:
		return refusal.New(syscall.ERANGE, "place %q: %d calls at the same time; give 0 or more", s, o.Active)
	case s.Kind == Tick && (s.Hz < 1 || s.Hz > maxHz):
		return no("%d Hz is not a frequency; give 1 to %d", s.Hz, maxHz)
	case s.Kind == Every && (s.Period <= 0 || s.Period > maxPeriod):
		return no("%v is not an interval; give up to %v", s.Period, maxPeriod)
	case !s.Return && (o.Entry != nil || o.Data != 0 || o.Active != 0):
		return no("an entry handler and data per call are for returns; give ret:%s", s)
	}
	return nil
}

// able lists the kinds that know all of a.
func able(a Ability) string {
	var names []string
	for k, p := range providers {
		if p != nil && p.Can(Kind(k))&a == a {
			names = append(names, Kind(k).String())
		}
	}
	return cmp.Or(strings.Join(names, ", "), "none")
}
