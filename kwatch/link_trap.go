package kwatch

import (
	"sonde/arch/amd64"
	"sonde/probe/attach"
)

// Trap context.

// handlerOf returns what calls the handler of a place's link. That one is judged, and blamed, not this
// (point.called).
func handlerOf(at *attach.Place) Handler {
	if at.Link.Handler == nil {
		return func(*Hit, *amd64.Regs) {}
	}
	return func(h *Hit, r *amd64.Regs) {
		a := attach.Hit{Regs: r, Place: at, IP: uint64(h.IP), Old: h.Old, New: h.New}
		a.Call(at.Link.Handler)
	}
}
