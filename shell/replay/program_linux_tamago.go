//go:build tamago && !nolinux

package replay

import (
	"syscall"

	"sonde/kallsyms"
	"sonde/kernel/refusal"
	"sonde/probe/attach"
	"sonde/uprobes"
	"sonde/uprobes/link"
)

// A filming is a camera at a place in programs.
type filming struct {
	camera uprobes.Camera
	users  func(addr uint64, pid int) (at kallsyms.Named, ok bool)
	site   attach.Site
	pid    func() int // of the recorded hit
}

// beginProgram puts the camera at a place in programs.
//
// Errors: those of uprobes.RegisterCamera; EINVAL the place is a pattern, or programs have no such tier, or no
// witness.
func (s *Shot) beginProgram(q Request) error {
	switch {
	case q.Witness:
		return refusal.New(syscall.EINVAL, "%s is in a program, where there is no witness (-w)", q.Site)
	case q.Tier != AsIs && q.Tier != Return && q.Tier != Goroutine:
		return refusal.New(syscall.EINVAL, "%s is in a program, which has only the tiers return and goroutine (-t)", q.Site)
	case q.Site.Pattern():
		return refusal.New(syscall.EINVAL, "%s is a pattern; a camera records one place", q.Site)
	}
	f := &filming{users: q.Users, site: q.Site}
	f.pid = func() int {
		if frames, _ := s.film.Recorded(); len(frames) > 0 {
			return int(frames[0].PID)
		}
		return q.Site.PID
	}
	c := &f.camera
	c.Film, c.Return, c.Blocks = s.film, q.Tier == Return || q.Site.Return, q.Tier == Goroutine
	u := &c.RP.U
	u.Pid, u.Vaddr, u.Path, u.Symbol, u.Offset = q.Site.PID, q.Site.Addr, link.Path(q.Site.File), q.Site.Symbol, q.Site.Offset
	if err := uprobes.RegisterCamera(c); err != nil {
		return err
	}
	s.user = f
	return nil
}

func (f *filming) close() {
	if f != nil {
		uprobes.UnregisterCamera(&f.camera)
	}
}

// take is what is known of the place.
func (f *filming) take() *Take {
	t := &Take{Symbol: f.symbol, Line: kernelLine}
	if spot, ok := f.camera.Spot(); ok {
		t.Addr, t.Slot, t.Original, t.Explain = spot.Addr, spot.Slot, spot.Code, spot.Way
	}
	return t
}

// symbol is Take.Symbol of the process, and of handlers. Who records by files has no names of programs but
// that of the place.
func (f *filming) symbol(addr uint64) (name string, base uint64, ok bool) {
	if name, base, ok = symbol(addr); ok {
		return name, base, ok
	}
	if f.users != nil {
		at, ok := f.users(addr, f.pid())
		return at.Name, addr - at.Offset, ok && at.Function
	}
	spot, ok := f.camera.Spot()
	return f.site.Symbol, spot.Addr - f.site.Offset, ok && f.site.Symbol != "" && addr-spot.Addr <= uint64(len(spot.Code))
}

// kernelLine is Take.Line: lines of programs are not known.
func kernelLine(addr uint64) (string, int) {
	if _, _, ok := symbol(addr); !ok {
		return "", 0
	}
	return line(addr)
}
