//go:build tamago

package replay

import (
	"bytes"
	"errors"
	"runtime"
	"strings"
	"syscall"
	"time"

	"sonde/arch/amd64"
	"sonde/kallsyms"
	"sonde/kernel/refusal"
	"sonde/kernel/text"
	"sonde/kprobes"
	"sonde/kprobes/place"
	"sonde/optprobe"
	"sonde/optprobe/explain"
	"sonde/probe/attach"
	"sonde/probe/attach/places"
	"sonde/probe/glass"
)

// A Request says what to record.
type Request struct {
	Site    attach.Site
	Tier    Tier
	Hit     uint64 // counted from 1
	CPU     int    // hits on this CPU alone; -1: on any
	Witness bool   // record where the code continues, by a probe there
	// Armed is called when the camera is at its place, if it then waits for a hit; nil: nothing.
	Armed func()
	// Users names addresses of programs; nil: they have no names.
	Users func(addr uint64, pid int) (at kallsyms.Named, ok bool)
}

// A Shot is a camera at its place, with the probes that were put there for it.
type Shot struct {
	film   *glass.Film
	camera kprobes.Camera
	at     kprobes.Description
	fused  []byte // what hits have executed before there was a camera, with the program in it
	from   uintptr
	spot   attach.Site
	probe  *kprobes.Kprobe
	ret    *kprobes.Kretprobe
	jump   *kprobes.Jprobe
	watch  *watching // nil: a place is probed
	user   *filming  // nil: it is none of a program
}

// Begin puts a camera at its place; Close must be called.
//
// Errors: those of places.Find and of kprobes.RegisterCamera, or of beginWatch; EINVAL the place is not one
// instruction; ENOTSUP the tier is not possible there; EBUSY glass.Most cameras are in use.
func (q Request) Begin() (s *Shot, err error) {
	s = new(Shot)
	begin := s.begin
	switch q.Site.Kind {
	case attach.Watch:
		begin = s.beginWatch
	case attach.Program:
		begin = s.beginProgram
	default:
		if s.spot, err = single(q.Site); err != nil {
			return nil, err
		}
	}
	if s.film, err = glass.New(q.Hit, q.CPU); err != nil {
		return nil, err
	}
	if err = begin(q); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// single is the one instruction that a place of the kernel stands for.
func single(at attach.Site) (attach.Site, error) {
	at.Return = false
	found, err := places.Find(at)
	if err != nil {
		return at, err
	}
	if n := len(found.Spots); n != 1 {
		return at, refusal.New(syscall.EINVAL, "%s is at %d places; a camera records one: explain %s lists them", at, n, at)
	}
	return found.Spots[0].Site, nil
}

func (s *Shot) begin(q Request) error {
	if q.Site.Return {
		q.Tier = Return
	}
	d, err := s.describe()
	if err != nil {
		return err
	}
	if err := q.Tier.fits(&d); err != nil {
		return err
	}
	if d.Stub != nil {
		s.from = d.Stub.Head
		s.fused = optprobe.Live(s.from, d.Stub.Len)
	}
	if d.Fused {
		s.from = d.Detour.Fused
		s.fused = optprobe.Live(s.from, int(d.Detour.Past-s.from))
	}
	first := q.Tier.breakpoint() // before there can be a detour
	add := func() error { return s.addProbe(q.Tier, len(d.Probes) > 0) }
	if !first {
		if err := add(); err != nil {
			return err
		}
		kprobes.AwaitJumps()
	}
	s.camera = kprobes.Camera{KP: s.kprobe(), Film: s.film, NoJump: q.Tier.breakpoint(), Witness: q.Witness}
	if err := kprobes.RegisterCamera(&s.camera); err != nil {
		return err
	}
	if first {
		if err := add(); err != nil {
			return err
		}
	}
	kprobes.AwaitJumps()
	if s.at, err = s.describe(); err != nil {
		return err
	}
	if q.Tier == Jump && !s.at.Jumped {
		return refusal.New(syscall.ENOTSUP, "there is no jump%s; explain %s says why", colon(s.at.NoJump), s.spot)
	}
	if q.Witness {
		return s.camera.UseWitness()
	}
	return nil
}

func colon(s string) string {
	if s == "" {
		return ""
	}
	return ": " + s
}

// describe says what is at the place now.
func (s *Shot) describe() (kprobes.Description, error) {
	k := s.kprobe()
	return kprobes.Describe(k.SymbolName, k.Offset+k.Addr)
}

// kprobe is a probe at the place.
func (s *Shot) kprobe() kprobes.Kprobe {
	if s.spot.Addr != 0 {
		return kprobes.Kprobe{Addr: uintptr(s.spot.Addr)}
	}
	return kprobes.Kprobe{SymbolName: s.spot.Symbol, Offset: uintptr(s.spot.Offset)}
}

func emptyPre(*kprobes.Kprobe, *amd64.Regs) int               { return 0 }
func emptyPost(*kprobes.Kprobe, *amd64.Regs, uint64)          {}
func emptyReturn(*kprobes.KretprobeInstance, *amd64.Regs) int { return 0 }
func emptyJprobe()                                            { kprobes.JprobeReturn() }

// addProbe puts in the probe that a tier needs; without a tier an empty one, if there is none.
func (s *Shot) addProbe(t Tier, any bool) error {
	k := s.kprobe()
	switch {
	case t == Return:
		s.ret = &kprobes.Kretprobe{KP: k, Handler: emptyReturn}
		return kprobes.RegisterKretprobe(s.ret)
	case t == Jprobe:
		s.jump = &kprobes.Jprobe{KP: k, Entry: emptyJprobe}
		return kprobes.RegisterJprobe(s.jump)
	case any && t != Step:
		return nil
	}
	k.PreHandler = emptyPre
	if t == Step {
		k.PostHandler = emptyPost
	}
	s.probe = &k
	return kprobes.RegisterKprobe(s.probe)
}

// Wait returns when the hit is over, or end is closed.
func (s *Shot) Wait(end <-chan struct{}) {
	const look = 2 * time.Millisecond
	for !s.film.Done() {
		select {
		case <-end:
			return
		case <-time.After(look):
		}
	}
}

// Close takes the camera and its probes away.
func (s *Shot) Close() {
	kprobes.UnregisterCamera(&s.camera)
	kprobes.UnregisterKprobe(s.probe)
	kprobes.UnregisterKretprobe(s.ret)
	kprobes.UnregisterJprobe(s.jump)
	if s.watch != nil {
		s.watch.close()
	}
	s.user.close()
	s.film.Close()
}

// Recording returns what has been recorded.
//
// Errors: EAGAIN there has been no such hit.
func (s *Shot) Recording() (*Recording, error) {
	frames, lost := s.film.Recorded()
	if len(frames) == 0 {
		return nil, refusal.New(syscall.EAGAIN, "nothing is recorded: %d hits came, and hit %d was to be recorded (-n)", s.film.Seen(), s.film.Hit())
	}
	var t *Take
	switch {
	case s.watch != nil:
		t = s.watch.take()
	case s.user != nil:
		t = s.user.take()
	default:
		t = s.probed()
	}
	t.Hit, t.Frames, t.Lost, t.Complete = s.film.Hit(), frames, lost, s.film.Done()
	t.Nanos = nanos
	return t.Recording(), nil
}

// probed is what is known of the probed place.
func (s *Shot) probed() *Take {
	d := &s.at
	t := &Take{
		Symbol: symbol, Line: line,
		Addr: uint64(d.Addr), Func: uint64(d.Func), FuncSize: uint64(d.Size), Slot: uint64(d.Slot),
		Original: kprobes.Original(d.Addr, min(glass.CodeBytes, d.Func+d.Size-d.Addr)),
	}
	t.Fused, t.FusedAt = s.fused, uint64(s.from)
	if d.Detour != nil {
		t.Resume, t.Back = uint64(d.Detour.Resume), uint64(d.Addr+d.Detour.Len)
	}
	var b bytes.Buffer
	if err := explain.Slide(&b, s.spot); err == nil {
		t.Explain = b.String()
	}
	return t
}

// symbol is Take.Symbol of the kernel, and of eBPF programs.
func symbol(addr uint64) (name string, base uint64, ok bool) {
	name, off, _, ok := kallsyms.Lookup(addr)
	if start, made := text.Made(uintptr(addr)); !ok && start != 0 {
		return made, uint64(start), true
	}
	return name, addr - off, ok
}

// line is Take.Line of the kernel.
func line(addr uint64) (string, int) {
	fn := runtime.FuncForPC(uintptr(addr))
	if fn == nil {
		return "", 0
	}
	file, n := fn.FileLine(uintptr(addr))
	return strings.TrimPrefix(file, "sonde/"), n
}

// Record records a hit while run runs; if that is nil, until there is one or end is closed.
//
// Errors: those of Begin, of run, and of Recording.
func (q Request) Record(run func() error, end <-chan struct{}) (*Recording, error) {
	s, err := q.Begin()
	if err != nil {
		return nil, err
	}
	defer s.Close()
	if run == nil {
		if q.Armed != nil {
			q.Armed()
		}
		s.Wait(end)
	} else {
		err = run()
	}
	rec, none := s.Recording()
	return rec, errors.Join(err, none)
}

// fits refuses a tier that the place has not.
//
// Errors: ENOTSUP.
func (t Tier) fits(d *kprobes.Description) error {
	switch {
	case t == Goroutine:
		return refusal.New(syscall.EINVAL, "only hits of programs can be left to a goroutine")
	case t == Boost && d.Detour != nil:
		return refusal.New(syscall.ENOTSUP, "there is a detour already, whose copy is used; unregister the probes there first")
	case t == Boost && d.Pre != place.Boosted:
		return refusal.New(syscall.ENOTSUP, "the instruction is not boosted, but %s", d.Pre)
	case t == Step && d.Post != place.Stepped:
		return refusal.New(syscall.ENOTSUP, "the instruction is not stepped, but %s", d.Post)
	}
	return nil
}
