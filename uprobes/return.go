package uprobes

// How calls with return probes end.

import (
	"unsafe"

	"sonde/arch/amd64"
	"sonde/arch/amd64/insn"
	"sonde/uprobes/place"
)

// real returns the original return address for one read from the stack.
func (th *thread) real(ret, slot uint64) uint64 {
	if tramp := th.text.trampoline.Load(); ret == tramp {
		return th.calls.real(slot, tramp)
	}
	return ret
}

// returned handles a return to the trampoline, where IP is. It reports whether the call was
// one of ours.
func (th *thread) returned() bool {
	r, tramp := th.Regs(), th.text.trampoline.Load()
	slot := r.SP - 8
	found := false
	for {
		c := th.calls.last(slot)
		if c == nil {
			if c = th.calls.take(slot); c == nil {
				return found
			}
		}
		found = true
		if r.IP = c.ret; r.IP == tramp {
			r.IP = th.calls.real(slot, tramp)
		}
		th.own.ends(c)
		th.begin()
		th.run()
		if c.ret != tramp || r.SP-8 != slot {
			return true
		}
	}
}

// comesBack is systemCall: a function has returned to the trampoline.
//
// Context: trap.
func (th *thread) comesBack(st *state, r *amd64.Regs) (done bool) {
	n := len(th.calls.stack) - 1
	if n < 0 {
		return false
	}
	c := &th.calls.stack[n]
	if c.slot != r.SP+place.PushedAll-8 || c.stays || !c.trapSafe {
		return false
	}
	r11, cx, ok := st.LoadPair(r.SP)
	if !ok {
		return false
	}
	r.R11, r.CX, r.IP = r11, cx, c.ret
	r.SP += place.PushedAll
	th.calls.stack = th.calls.stack[:n]
	st.thread = uintptr(unsafe.Pointer(th))
	st.ends(c)
	return callReturns[trapSide](st, r)
}

// ends says that the handlers of a call are next.
func (st *state) ends(c *call) {
	st.doing, st.call, st.at = callsReturns, uintptr(unsafe.Pointer(c)), 0
}

// leaves completes a hit of an exit.
//
// Context: trap.
func (th *thread) leaves(st *state, pt *point, r *amd64.Regs) (done bool) {
	sp := r.SP
	if th.wants&(wantsReturn|wantsGo) != 0 {
		return th.leavesGo(st, pt, r)
	}
	if !th.leavesByReturn(pt, sp) || !th.emulates(pt.plan, r) {
		return th.moves(r)
	}
	th.told = toldNothing
	return th.exits(st, r, sp)
}

// leavesByReturn reports whether the exit at pt can be done here.
//
// Context: trap.
func (th *thread) leavesByReturn(pt *point, sp uint64) bool {
	if !pt.plan.Returns() || th.calls.nleft > 0 {
		return false
	}
	n := len(th.calls.stack) - 1
	if n < 0 {
		return true
	}
	c := &th.calls.stack[n]
	return c.slot >= sp && c.trapSafe
}

// exits is exit for a return instruction.
//
// Context: trap.
func (th *thread) exits(st *state, r *amd64.Regs, sp uint64) (done bool) {
	n := len(th.calls.stack) - 1
	if n < 0 {
		return true
	}
	c := &th.calls.stack[n]
	if c.slot != sp || !c.stays || c.ret != r.IP {
		return true
	}
	th.calls.stack = th.calls.stack[:n]
	st.ends(c)
	return callReturns[trapSide](st, r)
}

// leavesGo completes a hit of a return instruction.
//
// Context: trap.
func (th *thread) leavesGo(st *state, pt *point, r *amd64.Regs) (done bool) {
	slot, ok := th.holdHere(st, r, r.SP)
	if !ok || th.wants&wantsReturn != 0 {
		if ok {
			th.release()
		}
		return th.moves(r)
	}
	cs := &th.held.callList
	cs.returnsTo(slot)
	n := len(cs.stack) - 1
	ours := n >= 0 && cs.stack[n].slot == slot
	if ours && !cs.stack[n].trapSafe || !th.emulates(pt.plan, r) {
		th.release()
		return th.moves(r)
	}
	if th.told = toldNothing; !ours {
		th.release()
		return true
	}
	return endsGo[trapSide](st, cs.last(slot), r)
}

// exit says that an exit has been executed; sp was the stack pointer before it.
func (th *thread) exit(pt *point, sp uint64) {
	c := th.calls.newest(sp)
	r := th.Regs()
	switch {
	case c == nil || !c.stays: // entered before the probe existed, or the trampoline sees its return
	case pt.plan.In.Flow == insn.Ret:
		if r.IP == c.ret { // if not, longjmp has left c, and this call is older than the probe
			th.returned()
		}
	case len(c.of) > 0 && c.of[0].m.leftFor(r.IP) && th.isCode(c.ret):
		if ret, err := th.text.mem.SwapWord(sp, th.text.trampoline.Load()); err == nil {
			c.ret, c.stays = ret, false
			c.trapSafe = c.trapSafe && ret != th.text.trampoline.Load()
		}
	}
}

// exitGo is exit for a Go function: its return instruction has been executed; sp was the stack pointer before it.
func (th *thread) exitGo(sp uint64) {
	st, r := &th.own, th.Regs()
	slot, ok := th.holdHere(st, r, sp)
	if !ok {
		return
	}
	th.held.returnsTo(slot)
	if c := th.held.last(slot); c != nil {
		th.begin()
		endsGo[goroutineSide](st, c, r)
	} else {
		th.release()
	}
}
