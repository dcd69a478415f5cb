//go:build tamago

package uprobes

// Trap context, except InTrap. Handlers that break the rules are abandoned, and their probes disabled:
// package handler finds them.

import (
	"unsafe"

	"sonde/arch/amd64"
	"sonde/arch/amd64/trap"
	"sonde/arch/amd64/user"
	"sonde/kernel/cpu"
	"sonde/kernel/die"
	"sonde/kernel/notifier"
	"sonde/probe/handler"
)

// handlers is this kind of handlers: see package handler. The breakpoint of an abandoned one stays, and
// its hits count as disarmed.
var handlers = handler.Kind{Blame: blame, Divert: user.AbandonHit, Faults: true}

// InTrap lets hits be handled in trap context, where that is possible. f reports whether a handler may
// change X0-X14, whatever it calls; the code of hits must leave them alone (reach.HitKeepsSSE).
//
// Context: boot, goroutine.
func InTrap(f func(handler any) bool) {
	careful, keepWatch = f, handler.Watch
	for id := range cpu.Num() {
		states[id].Frame = trap.Ring3Of(id).HitStack // no hit is further out than a program's
	}
	user.SetHits(onBreak, onHit, onAbandoned)
	handlers.Register(&states[0].State, unsafe.Sizeof(states[0]))
	notifier.OnFaults(&notifier.Block{Name: "uprobes", Priority: 50, Call: onFault})
}

// blame is handler.Kind's Blame.
func blame(p uintptr) (h die.Handler, first bool) {
	m := asMember(p)
	h = die.Handler{Owner: "uprobes", Kind: "u", At: uintptr(m.vaddr), Noun: "probe"}
	if copy(h.Code[:], m.code[:]); m.ret != nil {
		h.Kind = "ur"
	}
	return h, m.flags.Set(abandoned)
}

// onFault takes the exceptions of handlers. Those of the kernel's probes inside of them come first.
func onFault(r *amd64.Regs, addr uint64) notifier.Action {
	if states[trap.ID(r)].Probe == 0 {
		return notifier.Next
	}
	handlers.Kill(die.FaultName(r, addr), "", r)
	return notifier.Stop
}
