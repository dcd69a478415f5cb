//go:build tamago

package replay

import (
	"syscall"

	"sonde/arch/amd64"
	"sonde/kernel/attach"
	"sonde/kernel/refusal"
	"sonde/kwatch"
)

// A watching is a camera at a watchpoint.
type watching struct {
	camera *kwatch.Camera
	addr   uintptr
	name   string // as people write it
	own    bool   // the watchpoint was registered for the camera
	reg    int
}

func emptyWatch(*kwatch.Hit, *amd64.Regs) {}

// beginWatch puts the camera at the watchpoint of that place; if there is none, at one of its own.
//
// Errors: those of kwatch.At, kwatch.RegisterKwatch and kwatch.RegisterCamera; EINVAL a tier or a witness
// is asked for.
func (s *Shot) beginWatch(q Request) error {
	if q.Tier != AsIs || q.Witness {
		return refusal.New(syscall.EINVAL, "%s is a watchpoint, which has neither tiers (-t) nor a witness (-w)", q.Site)
	}
	addr, length, err := kwatch.At(q.Site)
	if err != nil {
		return err
	}
	q.Site.Length = length
	w := &watching{addr: addr, name: q.Site.String()}
	if err := w.find(length, q.Site.Access); err != nil {
		return err
	}
	if w.camera, err = kwatch.RegisterCamera(w.reg, s.film); err != nil {
		w.close()
		return err
	}
	s.watch = w
	return nil
}

// find finds the watchpoint, or makes it.
func (w *watching) find(length int, access attach.Access) (err error) {
	for _, i := range kwatch.All() {
		if i.PID == 0 && i.Addr == w.addr && i.Length == length && i.Type == access && !i.Gone && !i.Disabled {
			w.reg = i.DebugReg
			return nil
		}
	}
	w.reg, err = kwatch.RegisterKwatch(w.addr, length, access, emptyWatch)
	w.own = err == nil
	return err
}

func (w *watching) close() {
	kwatch.UnregisterCamera(w.camera)
	if w.own {
		kwatch.UnregisterKwatch(w.reg)
	}
}

// take is what is known of the watchpoint.
func (w *watching) take() *Take {
	return &Take{
		Addr: uint64(w.addr), Watch: w.name,
		Accessor: func(ip uint64) uint64 { return uint64(kwatch.Accessor(uintptr(ip))) },
	}
}
