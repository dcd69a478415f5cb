//go:build tamago

package kwatch

// Trap context. What becomes of a handler that breaks the rules (package handler).

import (
	"unsafe"

	"sonde/arch/amd64"
	"sonde/arch/amd64/trap"
	"sonde/kernel/die"
	"sonde/probe/handler"
	"sonde/probe/ledger"
)

// handlers is this kind of handlers.
var handlers = handler.Kind{Blame: blame, Onward: afterAbandon, Disarm: unload, Hit: hitOn}

// hitOn is handler.Kind's Hit.
func hitOn(id int) uintptr { return states[id].Frame }

// blame is handler.Kind's Blame. Safe because: points keeps p until no CPU is in its handler.
func blame(at uintptr) (h die.Handler, first bool) {
	p := *(**point)(unsafe.Pointer(&at))
	h = die.Handler{Owner: "kwatch", Kind: p.typ.String(), At: p.addr, Noun: "watchpoint"}
	h.Code[0] = p.code
	return h, !p.gone.Swap(true)
}

// afterAbandon continues the #DB whose handler was abandoned.
func afterAbandon(r *amd64.Regs) {
	id := trap.ID(r)
	st := &states[id].state
	st.reading = false
	st.End()
	p := points[st.reg].Load()
	p.accounts.CountNested(id, ledger.Abandoned)
	if p.camera != nil {
		p.camera.abandoned(r)
	}
	resume(p, r)
	st.goOn(r)
	if st.stepped {
		trap.Stepped(r)
	}
}
