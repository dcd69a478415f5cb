//go:build tamago

package kwatch

// Trap context. Handlers that break the rules are abandoned, as those of kprobes are: what
// they do wrong raises an exception, or the runtime notices it and raises an interrupt
// (overlay, sonde_abandon.go). Handlers of both kinds can be nested; the innermost is
// abandoned.

import (
	"sync/atomic"
	"unsafe"

	"sonde/arch/amd64"
	"sonde/arch/amd64/trap"
	"sonde/kernel/die"
	"sonde/kernel/goruntime"
	"sonde/kernel/irq"
	"sonde/kernel/notifier"
	"sonde/kernel/printk"
	"sonde/kernel/probe"
	"sonde/kernel/screen"
)

var (
	// handlerFrame returns the frame of the hit whose handler, of another kind of probe,
	// runs on a CPU; 0: none.
	handlerFrame func(id int) uintptr
	// handlerMoved is told of handlers that have changed IP or SP: see Others.
	handlerMoved func(addr, code uintptr, owner string, r *amd64.Regs, ip, sp uint64)
	// nextAbandon is called if the handler is not ours.
	nextAbandon trap.Handler
	// dropper wakes the thread that unloads the watchpoints of abandoned handlers.
	dropper irq.Event
	onward  = afterAbandon
)

// blamed returns the CPU's state if the innermost running handler is ours, else nil.
func blamed(id int) *state {
	st := &states[id].state
	if !st.handler || st.frame == 0 {
		return nil
	}
	if other := handlerFrame(id); other != 0 && other < st.frame {
		return nil
	}
	if at := trap.Interrupt(); at != 0 && at < st.frame {
		return nil // an interrupt is being handled on top of it
	}
	return st
}

// onAbandon handles the runtime's interrupt: AX and BX are the reason, CX and DX the
// panic's text.
func onAbandon(r *amd64.Regs) {
	st := blamed(trap.ID(r))
	if st == nil {
		nextAbandon(r)
		return
	}
	st.abandon(passed(r.AX, r.BX), passed(r.CX, r.DX), r)
}

// passed returns a string that the runtime passes in registers, cut to the length of a log
// line.
func passed(p, n uint64) string {
	return unsafe.String(*(**byte)(unsafe.Pointer(&p)), min(n, 128)) // Safe because: it stays as it is until the handler has gone
}

// onFault handles exceptions in handlers.
func onFault(r *amd64.Regs, addr uint64) notifier.Action {
	st := blamed(trap.ID(r))
	if st == nil {
		return notifier.Next
	}
	st.abandon(die.FaultName(r, addr), "", r)
	return notifier.Stop
}

// abandon abandons the handler that r interrupted.
func (st *state) abandon(why, text string, r *amd64.Regs) {
	id := trap.ID(r)
	p := points[st.reg].Load()
	screen.Main.Rescue(uintptr(r.SP), st.frame)
	printk.Rescue(id, uintptr(r.SP), st.frame)
	if !p.gone.Swap(true) {
		die.Mistaken(die.Handler{Owner: "kwatch", Kind: p.typ.String(), At: p.addr, Noun: "watchpoint"}, why, text, r)
	}
	goruntime.TrapReset(id)
	frame := st.frame
	trap.Divert(r, *(**amd64.Regs)(unsafe.Pointer(&frame)), &onward) // Safe because: it is on this CPU's trap stack
	dropper.Wake()
}

// afterAbandon continues the #DB whose handler was abandoned.
func afterAbandon(r *amd64.Regs) {
	id := trap.ID(r)
	st := &states[id].state
	st.handler, st.reading = false, false
	atomic.StoreUint64(&st.seq, (st.seq+1)&^1)
	p := points[st.reg].Load()
	p.accounts.CountNested(id, probe.Abandoned)
	resume(p, r)
	st.goOn(r)
	if st.stepped {
		trap.Stepped(r)
	}
}
