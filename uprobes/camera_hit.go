package uprobes

// Trap context, or the thread's goroutine. What a camera adds to its film at the wanted hit.

import (
	"sonde/arch/amd64"
	"sonde/probe/glass"
	"sonde/probe/ledger"
	"sonde/uprobes/place"
)

// records reports whether the hit in which th is, is the recorded one.
func (c *Camera) records(th *thread) bool {
	return c.phase.Load() == inHit && c.who.Load() == int64(th.t.TID)
}

func (c *Camera) finish() {
	if c.phase.Load() < over {
		c.phase.Store(over)
	}
	c.Film.Finish()
}

// begins records that a hit of pt has come, if it is the wanted one.
func (c *Camera) begins(th *thread, pt *point, r *amd64.Regs) {
	if c.records(th) { // the recorded hit has never come to its end
		c.finish()
		return
	}
	if c.phase.Load() != waits || !c.Film.Claim(mach.CPU(), uint64(th.t.TID)) {
		return
	}
	c.who.Store(int64(th.t.TID))
	keep(&c.at, pt)
	c.phase.Store(inHit)
	way := uint64(glass.InGoroutine)
	if mach.InTrap() {
		way = glass.InTrap
	}
	r.IP++ // as the breakpoint has left it
	c.shoot(th, r, glass.Trapped, nil, way, 0)
	r.IP--
}

// enters records that a handler of m is next, or is not called because m has one of these flags.
func (c *Camera) enters(th *thread, m *member, r *amd64.Regs, role uint64, not ledger.Flags) {
	if c.off = m.flags.Has(not); c.off {
		c.shoot(th, r, glass.Off, m, role, 0)
		return
	}
	c.shoot(th, r, glass.Enters, m, role, 0)
}

// returned records that it has returned, or has not.
func (c *Camera) returned(th *thread, m *member, r *amd64.Regs, role uint64) {
	switch {
	case c.off:
	case m.flags.Has(abandoned):
		c.shoot(th, r, glass.Abandoned, m, role, 0)
	default:
		c.shoot(th, r, glass.Returned, m, 0, role)
	}
}

// executes records how the instruction at s gets executed. What it leads to has been decided: the code of
// all hits does it once more. Where it is executed by the kernel, executed comes after it.
func (c *Camera) executes(th *thread, s *seam, r *amd64.Regs) {
	pt := s.point
	c.final = s.final
	way := pt.plan.Way
	if way == place.Boost && pt.stepped != nil && (th.after != nil || pt.plan.DueDB(r.Flags)) {
		way = place.Step
	}
	next := &c.next
	*next = *r
	switch {
	case r.IP != uint64(pt.addr) || th.wants&wantsSkip != 0:
		c.shoot(th, r, glass.TookOver, nil, 0, 0)
		c.finish()
		return
	case th.told == toldDecided:
		pt.check.Perform(next, next.IP, false)
		guard, _ := th.text.mem.PeekWord(r.R14 + stackGuard)
		c.shoot(th, next, glass.Decided, nil, r.SP-pt.check.Frame, guard)
	case way == place.Boost:
		next.IP = pt.slot
		c.shoot(th, next, glass.ToSlot, nil, 0, 0)
	case way == place.Nothing && mach.InTrap():
		next.IP = pt.plan.Next()
		c.shoot(th, next, glass.Emulated, nil, 0, 0)
	default:
		c.performs(th, pt, way, next, r)
		return
	}
	c.done()
}

// performs is executes for an instruction that the kernel executes, or steps.
func (c *Camera) performs(th *thread, pt *point, way place.Way, next, r *amd64.Regs) {
	switch way {
	case place.Step:
		pt.stepped.Enter(next, pt.slot)
		c.shoot(th, next, glass.ToStep, nil, 0, 0)
	case place.Syscall:
		c.shoot(th, r, glass.Calls, nil, r.AX, 0)
	default:
		reads, _ := pt.plan.Loads(r)
		pushes, _ := pt.plan.Pushes(r)
		c.shoot(th, r, glass.Emulates, nil, reads, pushes)
		if mach.InTrap() && c.emulates(th, pt, r) {
			return
		}
	}
	if th.wants&wantsReturn == 0 { // else a seam is called right after it
		c.awaits = true
		c.follow(th)
	}
}

// emulates executes the instruction in the trap, unless the code of all hits has to, and records that.
func (c *Camera) emulates(th *thread, pt *point, r *amd64.Regs) (done bool) {
	if th.wants != 0 || pt.plan.In.Target(uint64(pt.addr)) == uint64(pt.addr) || !th.emulates(pt.plan, r) {
		return th.wants != 0
	}
	c.shoot(th, r, glass.Emulated, nil, 0, 0)
	c.done()
	return true
}

// follow lets executed or faulted be called when the instruction has been executed, or has not.
func (c *Camera) follow(th *thread) {
	if len(th.after) > 0 { // only in the goroutine: there are KprobeUsers
		th.after = append(th.after, c.behind[0])
		return
	}
	keepSlice(&th.after, c.behind[:])
}

// executed is called after the instruction.
func (c *Camera) executed(r *amd64.Regs) {
	if th := handling(); th != nil && c.awaits {
		c.awaits = false
		stage := glass.Emulated
		switch c.at.plan.Way {
		case place.Step, place.Boost:
			stage = glass.PutBack
		case place.Syscall:
			stage = glass.Called
		}
		c.shoot(th, r, stage, nil, 0, 0)
		c.done()
	}
}

// faulted is called instead if the instruction has caused an exception, which ends the film.
func (c *Camera) faulted(r *amd64.Regs, vector int) int {
	if th := handling(); th != nil && c.awaits {
		c.awaits = false
		c.shoot(th, r, glass.Faulted, nil, uint64(vector), 0)
		c.finish()
	}
	return 0
}

// done says that the instruction has been executed.
func (c *Camera) done() {
	if c.final {
		c.finish()
	}
}

// comesBack records that a call has returned.
func (c *Camera) comesBack(th *thread, s *seam, r *amd64.Regs) {
	if s.wants&wantsEntry == 0 {
		c.shoot(th, r, glass.Exited, nil, 0, 0)
		return
	}
	to := r.IP
	r.IP = th.text.trampoline.Load()
	c.shoot(th, r, glass.Trampoline, nil, 0, 0)
	r.IP = to
}

// shoot adds a frame. m is the probe that it is about, nil for none.
func (c *Camera) shoot(th *thread, r *amd64.Regs, stage glass.Stage, m *member, a, b uint64) {
	f, n := mach.Shoot(c.Film, r, stage, c.at.addr, glass.Thread{PID: th.t.Process().PID, TID: th.t.TID, Memory: th.text.mem})
	if f == nil {
		return
	}
	if f.Note[0], f.Note[1] = a, b; m != nil {
		role := a
		if stage == glass.Returned {
			role = b
		}
		f.Probe, f.Handler = uintptr(m.vaddr), m.code[0]
		if role == glass.Entry {
			f.Handler = m.code[1]
		}
	}
	if stage == glass.Abandoned {
		mach.Reason(&f.Why)
	}
	c.Film.Written(n)
}
