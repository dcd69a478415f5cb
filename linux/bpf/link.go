package sysbpf

import (
	"encoding/binary"
	"fmt"
	"io"
	"syscall"

	"sonde/bpf"
	"sonde/kernel/abi"
	"sonde/kernel/refusal"
	"sonde/kernel/vfs"
	"sonde/probe/attach"
	"sonde/probe/program"
)

// Kinds of links, and what they are made for.
//
// Source: Linux, uapi/linux/bpf.h, enum bpf_link_type and enum bpf_attach_type.
const (
	linkRawPoint = 1
	linkTrace    = 2
	linkPerf     = 7
	linkKprobes  = 8
	linkUprobes  = 12

	forPerf    = 41
	forKprobes = 42
	forUprobes = 48
)

// linkState is what only processes see of a link.
type linkState struct {
	kind    uint32
	returns bool
	name    string // of a raw tracepoint
}

// linkStateOf returns a link's state; that of a link that the kernel has made is one of a perf event.
func linkStateOf(l *program.Link) *linkState {
	if s, ok := l.Extra.(*linkState); ok {
		return s
	}
	return &linkState{kind: linkPerf}
}

// A ProgramTaker is the handle of a file of perf_event_open(2) that runs a program at its hits.
type ProgramTaker interface {
	// SetProgram has it run the program, which the caller holds meanwhile, and which asks for the cookie at each
	// hit. Errors: EINVAL the program is of another type; EEXIST it has one.
	SetProgram(p *program.Prog, cookie uint64) error
	// Program returns the link of the program; nil: it has none. DropProgram ends it.
	Program() *program.Link
	DropProgram()
}

// linkFile is a descriptor of a link. It implements vfs.Describer.
type linkFile struct {
	file
	l     *program.Link
	event *vfs.File // whose program it is; nil: the link is its own
}

// Close implements vfs.Handle: a link of a perf event ends with its descriptor, unless it is pinned.
func (f *linkFile) Close() error {
	if f.event != nil {
		f.event.Handle().(ProgramTaker).DropProgram()
		vfs.Close(f.event)
	}
	return f.file.Close()
}

func (f *linkFile) Describe(w io.Writer) {
	names := map[uint32]string{linkRawPoint: "raw_tracepoint", linkTrace: "tracing", linkPerf: "perf", linkKprobes: "kprobe_multi", linkUprobes: "uprobe_multi"}
	fmt.Fprintf(w, "link_type:\t%s\nlink_id:\t%d\nprog_tag:\t%s\nprog_id:\t%d\n", names[linkStateOf(f.l).kind], f.l.ID, f.l.Prog.Tag(), f.l.Prog.ID)
}

// What /proc/PID/fd calls descriptors of links in Linux: those that LINK_CREATE has returned, and others. By the
// second name, libraries know what a file in /sys/fs/bpf stands for.
const (
	newLink   = "anon_inode:bpf_link"
	foundLink = "anon_inode:bpf-link"
)

// installLink gives a link that the caller holds a descriptor, which takes over the hold, and that of the event.
func (c *call) installLink(name string, l *program.Link, event *vfs.File) (uint64, error) {
	h := &linkFile{file{Anonymous: vfs.NewAnonymous(anonymous), object: l}, l, event}
	return c.Install(vfs.NewFile(name, h, h, abi.O_RDWR))
}

// linkCreate is LINK_CREATE: prog_fd 0, target_fd 4, attach_type 8, flags 12; of tracing: cookie 24.
func linkCreate(c *call, p *program.Prog) (uint64, error) {
	if c.u32(12) != 0 {
		return 0, refusal.New(syscall.EINVAL, "flags %#x of a link are not known", c.u32(12))
	}
	switch kind := c.u32(8); kind {
	case forPerf:
		return c.linkPerf(p)
	case forEntries, forReturns:
		if c.u32(4) != 0 || c.u32(16) != 0 || p.Function == nil || p.Function.Returns != (kind == forReturns) {
			return 0, refusal.New(syscall.EINVAL, "a link of type %d is for a tracing program that was loaded for it, and has no other target", kind)
		}
		return c.linkTracing(p, c.u64(24))
	case forKprobes, forUprobes:
		// Linux wants the program to have been loaded for such links. bpftrace has loaded it for others if a script
		// probes a function and a pattern.
		if p.Type() != bpf.Kprobe {
			return 0, refusal.New(syscall.EINVAL, "a program of type %s is not for links of type %d", p.Type(), kind)
		}
		if kind == forKprobes {
			return c.linkKprobes(p)
		}
		return c.linkUprobes(p)
	default:
		return 0, c.missing(fmt.Sprintf("a link of type %d", kind))
	}
}

// linkPerf has a perf event run a program: bpf_cookie 16.
func (c *call) linkPerf(p *program.Prog) (uint64, error) {
	event, err := c.Hold(c.fd(4))
	if err != nil {
		return 0, err
	}
	h, ok := event.Handle().(ProgramTaker)
	if !ok {
		err = refusal.New(syscall.EBADF, "descriptor %d is no perf event", c.fd(4)) // by this, libraries know that there are such links
	} else {
		err = h.SetProgram(p, c.u64(16))
	}
	if err != nil {
		vfs.Close(event)
		return 0, err
	}
	l := h.Program()
	if l == nil || program.Hold(l) != nil {
		vfs.Close(event)
		return 0, refusal.New(syscall.EBADF, "the perf event was closed meanwhile")
	}
	return c.installLink(newLink, l, event)
}

// attach attaches a program.
func (c *call) attach(p *program.Prog, sites []attach.Site, state *linkState) (uint64, error) {
	l, err := p.Attach(sites, &program.Options{Options: attach.Options{Owner: "bpf"}})
	return c.attached(l, err, state)
}

// attached gives the link of a program its first descriptor, if there is one.
func (c *call) attached(l *program.Link, err error, state *linkState) (uint64, error) {
	if err != nil {
		return 0, err
	}
	l.Extra = state
	if err := program.Hold(l); err != nil {
		return 0, err
	}
	return c.installLink(newLink, l, nil)
}

// sitesMost is how many places a link can have.
const sitesMost = 1 << 14

// flagReturn asks for the returns of functions.
const flagReturn = 1

// linkKprobes attaches a program to functions of the kernel: flags 16, cnt 20, syms 24, addrs 32, cookies 40.
func (c *call) linkKprobes(p *program.Prog) (uint64, error) {
	flags, n, names, addrs := c.u32(16), c.u32(20), c.u64(24), c.u64(32)
	switch {
	case flags&^flagReturn != 0, n == 0, (names == 0) == (addrs == 0):
		return 0, refusal.New(syscall.EINVAL, "give 1 function or more, by names or by addresses, and no flags but 1")
	case n > sitesMost:
		return 0, refusal.New(syscall.E2BIG, "%d functions: at most %d", n, sitesMost)
	}
	sites := make([]attach.Site, n)
	for i := range sites {
		word, err := c.word(max(names, addrs), i)
		if err != nil {
			return 0, err
		}
		s := attach.Site{Kind: attach.Kernel, Addr: word, Return: flags&flagReturn != 0}
		if names != 0 {
			s.Addr = 0
			s.Symbol, err = c.text(word, 512)
		}
		if err == nil && c.u64(40) != 0 {
			s.Cookie, err = c.word(c.u64(40), i)
		}
		if err != nil {
			return 0, err
		}
		sites[i] = s
	}
	return c.attach(p, sites, &linkState{kind: linkKprobes, returns: flags&flagReturn != 0})
}

// word copies the i-th of some words.
func (c *call) word(addr uint64, i int) (uint64, error) {
	b, err := c.in(addr+8*uint64(i), 8)
	return binary.LittleEndian.Uint64(b), err
}

// linkUprobes attaches a program to places of a file: path 16, offsets 24, ref_ctr_offsets 32, cookies 40, cnt 48,
// flags 52, pid 56.
func (c *call) linkUprobes(p *program.Prog) (uint64, error) {
	n, flags, pid := c.u32(48), c.u32(52), c.fd(56)
	switch {
	case flags&^flagReturn != 0, n == 0, pid < 0, c.u64(16) == 0, c.u64(24) == 0:
		return 0, refusal.New(syscall.EINVAL, "give a path, 1 offset or more, and no flags but 1")
	case n > sitesMost:
		return 0, refusal.New(syscall.E2BIG, "%d places: at most %d", n, sitesMost)
	case c.u64(32) != 0:
		return 0, c.missing("a counter of references to a probe")
	}
	path, err := c.Path(c.u64(16))
	if err != nil {
		return 0, err
	}
	sites := make([]attach.Site, n)
	for i := range sites {
		s := attach.Site{Kind: attach.Program, File: path, PID: pid, Return: flags&flagReturn != 0}
		if s.Offset, err = c.word(c.u64(24), i); err == nil && c.u64(40) != 0 {
			s.Cookie, err = c.word(c.u64(40), i)
		}
		if err != nil {
			return 0, err
		}
		sites[i] = s
	}
	return c.attach(p, sites, &linkState{kind: linkUprobes, returns: flags&flagReturn != 0})
}

// linkUpdate is LINK_UPDATE: link_fd 0; linkDetach is LINK_DETACH. No kind of link here can be changed, as in Linux.
func linkUpdate(c *call) (uint64, error) { return done(c.refuseLink(syscall.EINVAL)) }
func linkDetach(c *call) (uint64, error) { return done(c.refuseLink(syscall.EOPNOTSUPP)) }

func (c *call) refuseLink(errno syscall.Errno) error {
	f, err := c.Hold(c.fd(0))
	if err != nil {
		return err
	}
	defer vfs.Close(f)
	if _, ok := f.Handle().(*linkFile); !ok {
		return refusal.New(syscall.EINVAL, "descriptor %d is no link", c.fd(0))
	}
	return refusal.New(errno, "a link of this kind ends with its descriptors, and keeps its program")
}
