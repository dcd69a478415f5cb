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
	c := th.calls.top()
	if c == nil || c.slot != r.SP+place.PushedAll-8 || c.stays || !c.trapSafe {
		return false
	}
	r11, cx, ok := st.LoadPair(r.SP)
	if !ok {
		return false
	}
	r.R11, r.CX, r.IP = r11, cx, c.ret
	r.SP += place.PushedAll
	th.calls.pop()
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
	cs := &th.calls
	c := cs.top()
	if !pt.plan.Returns() || cs.nleft > 0 || c != nil && (c.slot < sp || !c.trapSafe) || !th.emulates(pt.plan, r) {
		return th.moves(r)
	}
	th.told = toldNothing
	if c == nil || c.slot != sp || !c.stays || c.ret != r.IP {
		return true
	}
	cs.pop()
	st.ends(c)
	return callReturns[trapSide](st, r)
}

// leavesGo completes a hit of a return instruction.
//
// Context: trap.
func (th *thread) leavesGo(st *state, pt *point, r *amd64.Regs) (done bool) {
	if th.wants&wantsReturn != 0 {
		return th.moves(r)
	}
	slot, ok := th.holdHere(st, r, r.SP)
	if !ok {
		return th.moves(r)
	}
	cs := &th.held.callList
	cs.returnsTo(slot)
	c := cs.top()
	ours := c != nil && c.slot == slot
	if ours && !c.trapSafe || !th.emulates(pt.plan, r) {
		th.release()
		return th.moves(r)
	}
	if th.told = toldNothing; !ours {
		th.release()
		return true
	}
	cs.pop()
	return endsGo[trapSide](st, c, r)
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
	case c.leftFor(r.IP) && th.isCode(c.ret):
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

// endsGo ends a call of a goroutine, unless it was left, and the one that has returned was entered before the
// probe existed.
func endsGo[W side](st *state, c *call, r *amd64.Regs) (done bool) {
	if c.ret != r.IP {
		c.leave()
		c.of = c.of[:0]
	}
	st.ends(c)
	return callGoExits[W](st, r)
}

// callGoExits is callReturns for a call of a goroutine.
func callGoExits[W side](st *state, r *amd64.Regs) (done bool) {
	st.doing = callsGoExits
	done = callReturns[W](st, r)
	asThread(st.thread).release()
	return done
}
