//go:build tamago

package kwatch

// Trap context. What a camera does at a hit, with X0-X14 saved.

import (
	"sonde/arch/amd64"
	"sonde/arch/amd64/debugreg"
	"sonde/arch/amd64/trap"
	"sonde/kernel/goruntime"
	"sonde/probe/glass"
	"sonde/probe/handler"
)

// record implements machine.record: it is called as the handler, and calls that.
func record(c *Camera, h *Hit, r *amd64.Regs) {
	if !c.film.Claim(h.CPU, h.Goid) {
		c.handler(h, r)
		return
	}
	c.shoot(r, glass.Watched, states[h.CPU].dr6(), uint64(h.DebugReg))
	if h.Type != Execute {
		c.accessed(h, r)
	}
	c.shoot(r, glass.Enters, glass.Watch, 0)
	c.handler(h, r)
	c.shoot(r, glass.Returned, 0, glass.Watch)
	c.leave(r)
}

// dr6 is what DR6 says of the hit, with the watchpoints that QEMU does not report.
func (st *state) dr6() uint64 {
	v := st.left | st.done
	if st.stepped {
		v |= debugreg.DR6_BS
	}
	return v
}

// accessed records the values, and the address after the access.
func (c *Camera) accessed(h *Hit, r *amd64.Regs) {
	if f, n := c.film.Shoot(r, glass.Accessed, c.point.addr); f != nil {
		f.Note[0], f.Note[1], f.Probe = h.Old, h.New, h.IP
		c.film.Written(n)
	}
}

// leave records how the CPU continues, which is the end of the hit.
func (c *Camera) leave(r *amd64.Regs) {
	resume(c.point, r) // as the code of all hits will do once more
	c.shoot(r, glass.GoesOn, r.Flags&amd64.RFLAGS_RF, 0)
	c.film.Finish()
}

// abandoned records that the handler was abandoned, if it was in the recorded hit.
func (c *Camera) abandoned(r *amd64.Regs) {
	if c.film.Done() || !c.film.Of(goruntime.Goid(trap.G(r))) {
		return
	}
	trap.SaveXMM(r)
	c.shoot(r, glass.Abandoned, glass.Watch, 0)
	c.leave(r)
}

// shoot adds a frame of r.
func (c *Camera) shoot(r *amd64.Regs, stage glass.Stage, a, b uint64) {
	f, n := c.film.Shoot(r, stage, c.point.addr)
	if f == nil {
		return
	}
	f.Note[0], f.Note[1], f.Probe, f.Handler = a, b, c.point.addr, c.point.code
	if stage == glass.Abandoned {
		handler.Reason(trap.ID(r), &f.Why)
	}
	c.film.Written(n)
}
