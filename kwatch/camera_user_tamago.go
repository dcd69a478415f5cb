//go:build tamago && !nolinux

package kwatch

import (
	"sonde/arch/amd64"
	"sonde/kernel/cpu"
	"sonde/kernel/goruntime"
	"sonde/linux/proc"
	"sonde/probe/glass"
)

// film implements program. No hit is in progress while the handler is changed.
func (u *user) film(c *Camera) (restore func()) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.await()
	h := u.handler
	u.handler = func(hit *Hit, t *proc.Thread) { c.recordUser(h, hit, t) }
	return func() {
		u.mu.Lock()
		defer u.mu.Unlock()
		u.await()
		u.handler = h
	}
}

// recordUser is record for a thread of a program, in its goroutine.
func (c *Camera) recordUser(handler UserHandler, h *Hit, t *proc.Thread) {
	if !c.film.Claim(cpu.ID(), goruntime.Goid(goruntime.Self())) {
		handler(h, t)
		return
	}
	defer c.film.Finish()
	s := shooter{c, t.Regs(), glass.Thread{PID: t.Process().PID, TID: t.TID, Memory: t.Process().Memory()}}
	s.shoot(glass.Watched, 1<<h.DebugReg, uint64(h.DebugReg)) // DR6 has gone to OfThread, which asks for one after the other
	if h.Type != Execute {
		s.add(glass.Accessed, func(f *glass.Frame) { f.Note[0], f.Note[1], f.Probe = h.Old, h.New, h.IP })
	}
	s.shoot(glass.Enters, glass.Watch, 0)
	returned := false
	defer func() {
		if !returned { // it panics, or has ended its goroutine
			s.add(glass.Abandoned, func(f *glass.Frame) {
				copy(f.Why[:], "it has not returned")
				f.Note[0], f.Handler = glass.Watch, c.point.code
			})
		}
		s.shoot(glass.GoesOn, s.r.Flags&amd64.RFLAGS_RF, 0)
	}()
	handler(h, t)
	returned = true
	s.shoot(glass.Returned, 0, glass.Watch)
}

// A shooter adds frames of a thread.
type shooter struct {
	*Camera
	r  *amd64.Regs
	of glass.Thread
}

func (s *shooter) shoot(stage glass.Stage, a, b uint64) {
	s.add(stage, func(f *glass.Frame) { f.Note[0], f.Note[1], f.Probe, f.Handler = a, b, s.point.addr, s.point.code })
}

// add adds a frame that fill completes.
func (s *shooter) add(stage glass.Stage, fill func(*glass.Frame)) {
	f, n := s.film.ShootThread(s.r, stage, s.point.addr, s.of)
	if f == nil {
		return
	}
	fill(f)
	if s.point.typ != Execute {
		f.Has &^= glass.HasText // it is data
	}
	s.film.Written(n)
}
