//go:build tamago

package replay

import (
	"syscall"

	"sonde/kallsyms"
	"sonde/kernel/refusal"
	"sonde/kwatch"
	"sonde/probe/attach"
)

// A watching is a camera at a watchpoint.
type watching struct {
	camera *kwatch.Camera
	addr   uintptr
	name   string       // as people write it
	pid    int          // 0: the kernel's
	link   *attach.Link // the watchpoint was registered for the camera; nil: there was one
	users  func(addr uint64, pid int) (at kallsyms.Named, ok bool)
}

func emptyWatch(*attach.Hit) {}

// beginWatch puts the camera at the watchpoint of that place; if there is none, at one of its own.
//
// Errors: those of kwatch.At, attach.Attach and kwatch.RegisterCamera; EINVAL a tier or a witness is asked
// for.
func (s *Shot) beginWatch(q Request) error {
	if q.Tier != AsIs || q.Witness {
		return refusal.New(syscall.EINVAL, "%s is a watchpoint, which has neither tiers (-t) nor a witness (-w)", q.Site)
	}
	at := q.Site
	at.PID = 0 // At is for the kernel; an address means the same in a process
	addr, length, err := kwatch.At(at)
	if err != nil {
		return err
	}
	q.Site.Length = length
	w := &watching{addr: addr, name: q.Site.String(), pid: q.Site.PID, users: q.Users}
	reg, ok := w.find(q.Site)
	if !ok {
		if w.link, err = attach.Attach([]attach.Site{q.Site}, emptyWatch, nil); err != nil {
			return err
		}
		reg, _ = w.find(q.Site)
	}
	if w.camera, err = kwatch.RegisterCamera(reg, s.film); err != nil {
		w.close()
		return err
	}
	s.watch = w
	return nil
}

// find returns the debug register of the watchpoint there.
func (w *watching) find(at attach.Site) (reg int, ok bool) {
	for _, i := range kwatch.All() {
		if i.PID == at.PID && i.Addr == w.addr && i.Length == at.Length && i.Type == at.Access && !i.Gone && !i.Disabled {
			return i.DebugReg, true
		}
	}
	return -1, false
}

func (w *watching) close() {
	kwatch.UnregisterCamera(w.camera)
	if w.link != nil {
		w.link.Close()
	}
}

// take is what is known of the watchpoint.
func (w *watching) take() *Take {
	t := &Take{Addr: uint64(w.addr), Watch: w.name, Symbol: symbol, Line: line}
	t.Accessor = func(ip uint64) uint64 { return uint64(kwatch.Accessor(uintptr(ip))) }
	if w.pid != 0 {
		t.Symbol, t.Line, t.Accessor = w.symbol, nowhere, behind
	}
	return t
}

// symbol is Take.Symbol of the process.
func (w *watching) symbol(addr uint64) (name string, base uint64, ok bool) {
	if w.users == nil {
		return "", 0, false
	}
	at, ok := w.users(addr, w.pid)
	return at.Name, addr - at.Offset, ok && at.Function
}

// nowhere is Take.Line of a program: its lines are not known.
func nowhere(uint64) (string, int) { return "", 0 }

// behind is Take.Accessor of a program: an address within the instruction before ip, whose beginning is not
// known.
func behind(ip uint64) uint64 { return ip - 1 }
