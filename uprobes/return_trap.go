package uprobes

// Trap context. How calls with return probes end.

import (
	"unsafe"

	"sonde/arch/amd64"
	"sonde/uprobes/place"
)

// leaves completes a hit of an exit.
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

// comesBack is systemCall: a function has returned to the trampoline.
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

// leavesGo completes a hit of a return instruction.
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
