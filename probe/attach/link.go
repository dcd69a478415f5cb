package attach

import (
	"cmp"
	"slices"
	"sync"
	"syscall"

	"sonde/kernel/grace"
	"sonde/kernel/module"
	"sonde/kernel/refusal"
)

// A Handler is called at each hit. Unless h.MayBlock says otherwise it is called where the trap
// arrives, so that it must not allocate, lock or wait, nor store pointers into the heap.
//
// Context: trap, or a goroutine if h.MayBlock.
type Handler func(h *Hit)

// An EntryHandler is called when a call is entered whose return is probed. It fills in h.Data. If it
// returns false, the handler is not called when this call returns.
//
// Context: as a Handler.
type EntryHandler func(h *Hit) (wanted bool)

// MostWords is how many words of data a call can have, whatever the kind.
const MostWords = 1 << 13

// Options say how to attach. The zero value, or nil, is the usual case.
type Options struct {
	Entry    EntryHandler // at returns: called when the call is entered
	Data     int          // at returns: words of memory for each call, at most MostWords
	Active   int          // at returns: calls at the same time; 0: the default of the kind
	Block    bool         // the handler may block: it is always called in a goroutine, in programs at a higher cost
	Most     int          // places that a pattern may fit; 0: any number
	Disabled bool         // begin disabled
	Owner    string       // the module to blame; "": the one that the caller runs for
	Fuse     Fuser        // compiles the handler for one place; nil: nothing does. Kinds that do not know it call the handler
}

// A Link is a handler that is attached to places.
type Link struct {
	Handler Handler // nil: hits are counted
	Options Options

	Parts // by provider, in the order of the sites

	mu     sync.Mutex
	closed bool // guarded by mu
}

// links are the open ones, in the order in which they were attached.
var links struct {
	sync.Mutex
	all []*Link
}

// Attach calls f at each hit of each of sites, or changes nothing. With f nil, hits are counted.
// o may be nil.
//
// Context: goroutine, not a handler.
// Errors: EINVAL there is no site, or its kind does not know one of the options; ERANGE Data or Active is
// negative, or Data too large; ENOSYS this kernel has no such kind; and those of the kind: see kprobes.RegisterKprobe, uprobes.RegisterUprobe and
// kwatch.RegisterKwatch. Each names the place.
func Attach(sites []Site, f Handler, o *Options) (*Link, error) {
	l, c, err := Begin(sites, f, o)
	c.Complete()
	return l, err
}

// Begin is Attach for code that attaches several links with one wait for all CPUs: the handler is
// certain to be called once the change is complete. Complete the change after an error, too.
func Begin(sites []Site, f Handler, o *Options) (l *Link, c grace.Change, err error) {
	l = &Link{Handler: f}
	if o != nil {
		l.Options = *o
	}
	l.Options.Owner = cmp.Or(l.Options.Owner, module.Current())
	if len(sites) == 0 {
		return nil, c, refusal.New(syscall.EINVAL, "there is no place to attach to")
	}
	for _, s := range sites {
		if err := s.fits(&l.Options); err != nil {
			return nil, c, err
		}
	}
	for _, group := range byProvider(sites) {
		a, more, err := providers[group[0].Kind].Attach(l, group)
		if err != nil {
			return nil, c.With(more).With(l.Parts.Detach()), err
		}
		l.Parts, c = append(l.Parts, a), c.With(more)
	}
	c.Then = append(c.Then, l.list)
	return l, c, nil
}

// list makes l one of the open links.
func (l *Link) list() {
	links.Lock()
	defer links.Unlock()
	links.all = append(links.all, l)
}

// AttachTo is Attach for places as people type them.
//
// Errors: those of ParseSite and Attach.
func AttachTo(f Handler, o *Options, places ...string) (*Link, error) {
	sites, err := ParseSites(places...)
	if err != nil {
		return nil, err
	}
	return Attach(sites, f, o)
}

// byProvider groups sites by what attaches to them, each group in the order of sites.
func byProvider(sites []Site) (groups [][]Site) {
	for _, s := range sites {
		at := slices.IndexFunc(groups, func(g []Site) bool { return providers[g[0].Kind] == providers[s.Kind] })
		if at < 0 {
			at = len(groups)
			groups = append(groups, nil)
		}
		groups[at] = append(groups[at], s)
	}
	return groups
}

// Close detaches the handler everywhere. When it returns, the handler is not running and will not be
// called. The counts stay readable. Closing again does nothing.
//
// Context: goroutine, not a handler of this link.
func (l *Link) Close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.detach().Complete()
}

// Detach is Close for code that closes several links with one wait for all CPUs: the handler may still be
// called until the change is complete.
func (l *Link) Detach() grace.Change {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.detach()
}

// detach is Detach with mu held.
func (l *Link) detach() (c grace.Change) {
	if l.closed {
		return c
	}
	l.closed = true
	c = l.Parts.Detach()
	c.Then = append(c.Then, l.unlist)
	return c
}

// unlist makes l none of the open links.
func (l *Link) unlist() {
	links.Lock()
	defer links.Unlock()
	links.all = slices.DeleteFunc(links.all, func(o *Link) bool { return o == l })
}

// Enable lets the handler be called again, or not: the probes stay where they are.
//
// Context: goroutine, not a handler.
// Errors: EINVAL the link is closed, or a handler was abandoned; then nothing has changed.
func (l *Link) Enable(on bool) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return refusal.New(syscall.EINVAL, "the link is closed")
	}
	return l.Parts.Enable(on)
}

// Links returns the open links, in the order in which they were attached.
func Links() []*Link {
	links.Lock()
	defer links.Unlock()
	return slices.Clone(links.all)
}
