package uprobes

// Trap context. The calls of Go functions that have more than a return: see goroutine.go.

import (
	"unsafe"

	"sonde/arch/amd64"
	"sonde/uprobes/machine"
)

// holdsHere is hold where the breakpoint has arrived.
func (th *thread) holdsHere(r *amd64.Regs) (slot uint64, ok bool) {
	lo, hi, ok := machine.LoadPair(r.R14)
	if !ok {
		return 0, false
	}
	return th.hold(th.text.goroutines.find(r.R14), r.SP, lo, hi)
}

// entersGo is enterGo, but that begins makes the instances. If it returns false, the call is not noted.
func (th *thread) entersGo(pt *point, r *amd64.Regs) bool {
	ret, ok := machine.LoadWord(r.SP)
	if !ok {
		return false
	}
	slot, ok := th.holdsHere(r)
	if !ok {
		return false
	}
	cs := &th.held.callList
	cs.returnsTo(slot + 1)
	n := len(cs.stack)
	if n == cap(cs.stack) || !cs.stack[:n+1][n].holds(pt) {
		th.release()
		return false
	}
	c := &cs.stack[:n+1][n]
	c.slot, c.ret, c.stays, c.left, c.trapSafe = slot, ret, true, false, true
	cs.stack = cs.stack[:n+1]
	return true
}

// leavesGo completes a hit of a return instruction.
func (th *thread) leavesGo(st *state, pt *point, r *amd64.Regs) (done bool) {
	slot, ok := th.holdsHere(r)
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
		return settle(r)
	}
	c := &cs.stack[n]
	cs.stack = cs.stack[:n]
	if c.ret != r.IP { // it was left, and this one was entered before the probe existed
		c.leave()
		c.of = c.of[:0]
	}
	st.ends(c)
	return st.callGoExits(r)
}

// callGoExits is callReturns for such a call.
func (st *state) callGoExits(r *amd64.Regs) (done bool) {
	st.doing = callsGoExits
	done = st.callReturns(r)
	asThread(st.thread).release()
	return done
}

// begins is enlist for the call that enters or entersGo has noted, and then gets the instruction executed.
func (st *state) begins(r *amd64.Regs) (done bool) {
	cs := asThread(st.thread).noting()
	st.doing, st.call, st.next = callsEntries, uintptr(unsafe.Pointer(&cs.stack[len(cs.stack)-1])), st.list
	return st.callEntries(r)
}

// noting is the list in which a hit notes a call.
func (th *thread) noting() *callList {
	if th.held != nil {
		return &th.held.callList
	}
	return &th.calls
}
