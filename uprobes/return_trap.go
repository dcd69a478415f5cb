package uprobes

// Trap context. Calls with return probes: they are noted, and end, on the thread's own list, as far as
// that is possible without allocating anything.

import (
	"unsafe"

	"sonde/arch/amd64"
	"sonde/probe/ledger"
	"sonde/uprobes/place"
)

// enters is enterCall, but that begins makes the instances if the calls have more than usual. If it
// returns false, nothing has changed.
func (th *thread) enters(st *state, pt *point, r *amd64.Regs) bool {
	cs := &th.calls
	n := len(cs.stack)
	if n >= cs.room || cs.nleft > 0 || n >= manyCalls && n >= cs.limit || n > 0 && cs.stack[n-1].slot <= r.SP {
		return false
	}
	c := &cs.stack[:n+1][n]
	if cap(c.of) < int(pt.entries.Load()) {
		if th.wants&wantsGo != 0 {
			return th.entersGo(pt, r)
		}
		if !c.holds(pt) {
			return false
		}
	}
	var ret uint64
	var ok bool
	tramp, stays := th.text.trampoline.Load(), th.wants&wantsEntry == 0
	if stays {
		if ret, ok = mach.LoadWord(r.SP); !ok || ret == tramp { // it has been replaced already
			return false
		}
	} else {
		if ret, ok = mach.SwapWord(r.SP, tramp); !ok {
			return false
		}
		if !th.code.has(ret) && (ret == tramp || !th.knowsCode(ret)) {
			mach.SwapWord(r.SP, ret)
			return false
		}
	}
	c.slot, c.ret, c.stays, c.trapSafe = r.SP, ret, stays, true
	if th.wants&wantsMore == 0 {
		th.enlists(st, c)
	}
	cs.stack = cs.stack[:n+1]
	return true
}

// knowsCode is isCode for what is known.
//
//go:noinline
func (th *thread) knowsCode(addr uint64) bool {
	all := th.text.areas.Load()
	if all == nil {
		return false
	}
	for i := range all {
		if a := &all[i]; a.has(addr) {
			th.code = *a
			return true
		}
	}
	return false
}

// enlists makes the instances of a call, for which there is room.
func (th *thread) enlists(st *state, c *call) {
	p := th.t.Process()
	st.next = st.list
	of := c.of[:0]
	for m := st.nextMember(); m != nil; m = st.nextMember() {
		if m.wants&(wantsEntry|wantsStay) == 0 || m.flags.Has(disabled) || m.process != p || len(of) == cap(of) {
			continue
		}
		of = of[:len(of)+1]
		in := &of[len(of)-1]
		in.RetAddr = c.ret
		keep(&in.RP, m.ret)
		keep(&in.m, m)
		m.Begin()
	}
	c.of = c.of[:len(of)]
}

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
	return st.callReturns(r)
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
	r11, cx, ok := mach.LoadPair(r.SP)
	if !ok {
		return false
	}
	r.R11, r.CX, r.IP = r11, cx, c.ret
	r.SP += place.PushedAll
	th.calls.stack = th.calls.stack[:n]
	st.thread = uintptr(unsafe.Pointer(th))
	st.ends(c)
	return st.callReturns(r)
}

// ends says that the handlers of a call are next.
func (st *state) ends(c *call) {
	st.doing, st.call, st.at = callsReturns, uintptr(unsafe.Pointer(c)), 0
}

// callReturns calls the handlers of a call that are left.
func (st *state) callReturns(r *amd64.Regs) (done bool) {
	c := asCall(st.call)
	for int(st.at) < len(c.of) {
		in := &c.of[st.at]
		st.at++
		m := in.m
		if !m.flags.Has(unregistered | abandoned) {
			st.begin(m, r)
			m.ret.Handler(&in.UretprobeInstance, r)
			st.End()
			m.End(ledger.Handled)
		} else {
			m.End(ledger.Disarmed)
		}
		keep(&in.RP, nil) // it may not be reused for a long time
		keep(&in.m, nil)
	}
	c.of = c.of[:0]
	return fixUp(r)
}

// callGoReturns is goReturned, for the probes that are left.
func (st *state) callGoReturns(r *amd64.Regs) (done bool) {
	p := asThread(st.thread).t.Process()
	for m := st.nextMember(); m != nil; m = st.nextMember() {
		switch {
		case m.wants != wantsReturn || m.process != p || m.flags.Has(disabled):
			continue
		case m.flags.Has(unregistered | abandoned):
			m.Count(ledger.Entered)
			m.Count(ledger.Disarmed)
			continue
		}
		m.Count(ledger.Entered)
		st.in.ret, st.in.rp = r.IP, uintptr(unsafe.Pointer(m.ret))
		st.begin(m, r)
		m.ret.Handler((*UretprobeInstance)(unsafe.Pointer(&st.in)), r)
		st.End()
		m.Count(ledger.Handled)
	}
	return fixUp(r)
}

// This does not compile unless state.in is laid out as a UretprobeInstance.
var _ [0]struct{} = [unsafe.Sizeof(UretprobeInstance{}) - unsafe.Sizeof(state{}.in)]struct{}{}
