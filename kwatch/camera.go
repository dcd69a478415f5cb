package kwatch

import (
	"syscall"

	"sonde/arch/amd64"
	"sonde/kernel/refusal"
	"sonde/probe/glass"
)

// A Camera records one hit of a watchpoint: package glass. While it is there, it is called
// in place of the watchpoint's handler, and calls that. So hits elsewhere do not execute an instruction
// more for it.
type Camera struct {
	film    *glass.Film
	point   *point
	restore func() // makes the watchpoint call its handler again

	handler Handler // the watchpoint's, if it is the kernel's
}

// RegisterCamera begins to wait for the hit of a watchpoint that film wants.
//
// Context: goroutine, not a handler.
// Errors: EINVAL there is no such watchpoint, or its handler was abandoned, or its program has ended;
// EBUSY it has a camera.
func RegisterCamera(debugReg int, film *glass.Film) (*Camera, error) {
	c, err := newCamera(debugReg, film)
	if err == nil && c.point.user != nil {
		c.restore = c.point.user.film(c)
	}
	return c, err
}

// newCamera is RegisterCamera but for what waits for the handlers of programs: these may need mu.
func newCamera(debugReg int, film *glass.Film) (*Camera, error) {
	mu.Lock()
	defer mu.Unlock()
	p, err := registered(debugReg)
	switch {
	case err != nil:
		return nil, err
	case p.gone.Load():
		return nil, refusal.New(syscall.EINVAL, "kwatch: %s: its handler was abandoned, or its program has ended", p.what())
	case p.camera != nil:
		return nil, refusal.New(syscall.EBUSY, "kwatch: %s: a camera is there already", p.what())
	}
	c := &Camera{film: film, point: p, handler: p.handler}
	p.camera = c
	if p.user != nil {
		return c, nil
	}
	careful := p.careful
	p.careful = true
	load(nil) // no hit that has seen the old flag is in progress: film needs X0-X14 saved
	p.handler = func(h *Hit, r *amd64.Regs) { this.record(c, h, r) }
	c.restore = func() {
		p.handler = c.handler
		load(nil)
		p.careful = careful
	}
	return c, nil
}

// UnregisterCamera removes c. When it returns, nothing is added to the film any more.
//
// Context: goroutine, not a handler.
func UnregisterCamera(c *Camera) {
	if c == nil || !c.registered() {
		return
	}
	if c.point.user != nil {
		c.restore() // without mu, as newCamera says
	}
	mu.Lock()
	defer mu.Unlock()
	if c.point.camera = nil; c.point.user == nil {
		c.restore()
	}
}

func (c *Camera) registered() bool {
	mu.Lock()
	defer mu.Unlock()
	return c.point.camera == c
}
