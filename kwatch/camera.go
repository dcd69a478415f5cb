package kwatch

import (
	"syscall"

	"sonde/arch/amd64"
	"sonde/kernel/glass"
	"sonde/kernel/probe"
)

// A Camera records one hit of a watchpoint of the kernel's: package glass. While it is there, it is called
// in place of the watchpoint's handler, and calls that. So hits elsewhere do not execute an instruction
// more for it.
type Camera struct {
	film  *glass.Film
	point *point

	handler Handler // the watchpoint's
	careful bool
}

// RegisterCamera begins to wait for the hit of a watchpoint that film wants.
//
// Context: goroutine, not a handler.
// Errors: EINVAL there is no such watchpoint, or its handler was abandoned; EBUSY it has a camera;
// ENOTSUP it is in a program.
func RegisterCamera(debugReg int, film *glass.Film) (*Camera, error) {
	mu.Lock()
	defer mu.Unlock()
	p, err := registered(debugReg)
	switch {
	case err != nil:
		return nil, err
	case p.user != nil:
		return nil, probe.Refuse(syscall.ENOTSUP, "kwatch: %s: a camera records hits in the kernel", p.what())
	case p.gone.Load():
		return nil, probe.Refuse(syscall.EINVAL, "kwatch: %s: its handler was abandoned", p.what())
	case p.camera != nil:
		return nil, probe.Refuse(syscall.EBUSY, "kwatch: %s: a camera is there already", p.what())
	}
	c := &Camera{film: film, point: p, handler: p.handler, careful: p.careful}
	p.camera, p.careful = c, true
	load(wanted()) // no hit that has seen the old flag is in progress: film needs X0-X14 saved
	p.handler = func(h *Hit, r *amd64.Regs) { this.record(c, h, r) }
	return c, nil
}

// UnregisterCamera removes c. When it returns, nothing is added to the film any more.
//
// Context: goroutine, not a handler.
func UnregisterCamera(c *Camera) {
	if c == nil {
		return
	}
	mu.Lock()
	defer mu.Unlock()
	p := c.point
	if p.camera == c {
		p.handler, p.camera = c.handler, nil
		load(wanted())
		p.careful = c.careful
	}
}
