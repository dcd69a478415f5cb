package uprobes

// Trap context. Calls that have more than a return (wantsMore), and among them those of Go functions: see
// gocalls.go.

import (
	"unsafe"

	"sonde/arch/amd64"
	"sonde/arch/amd64/user"
	"sonde/probe/ledger"
)

// holds reports whether c has room for calls at pt, and for their data.
func (c *call) holds(pt *point) bool {
	n, words := int(pt.entries.Load()&^moreEntries), int(pt.words.Load())
	if n > cap(c.of) {
		return false
	}
	for i := range n {
		if in := &c.of[:n][i]; cap(in.Data) < words {
			return false
		}
	}
	return true
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

// callEntries is begins for the probes that are left.
func (st *state) callEntries(r *amd64.Regs) (done bool) {
	th, c := asThread(st.thread), asCall(st.call)
	for m := st.nextMember(); m != nil; m = st.nextMember() {
		if !m.begins() || m.flags.Has(disabled) || m.process != th.t.Process() || len(c.of) == cap(c.of) {
			continue
		}
		in := c.more()
		if n := m.Begin(); cap(in.Data) < m.words || m.beyond(n) { // it has more data than those for which there is room
			m.End(ledger.NoInst)
			continue
		}
		in.RetAddr, in.Data = c.ret, in.Data[:m.words]
		keep(&in.RP, m.ret)
		keep(&in.m, m)
		for i := len(in.Data) - 1; i >= 0; i-- { // clear would use SSE registers, as would a loop that begins at 0
			in.Data[i] = 0
		}
		if m.ret.EntryHandler == nil || st.wants(m, in, r) {
			c.of = c.of[:len(c.of)+1]
		}
	}
	if th.wants &^= wantsMore; len(c.of) == 0 {
		th.unenters(c)
	}
	if th.held != nil {
		th.release()
	}
	pt := asPoint(st.point)
	r.IP = uint64(pt.addr) // it is where the call begins, whatever they have done
	user.FixUp(r)          // its IP is valid
	return th.completes(st, pt, r)
}

// wants is wanted.
func (st *state) wants(m *member, in *instance, r *amd64.Regs) bool {
	if m.flags.Has(unregistered | abandoned) {
		m.End(ledger.Disarmed)
		return false
	}
	st.begin(m, r)
	wanted := m.ret.EntryHandler(&in.UretprobeInstance, r) == 0
	st.End()
	if !wanted {
		m.End(ledger.Declined)
	}
	return wanted
}

// unenters undoes enters for a call whose return nobody waits for.
func (th *thread) unenters(c *call) {
	if !c.stays {
		if _, ok := mach.SwapWord(c.slot, c.ret); !ok {
			return
		}
	}
	cs := th.noting()
	cs.stack = cs.stack[:len(cs.stack)-1]
}

// holdsHere is hold where the breakpoint has arrived.
func (th *thread) holdsHere(r *amd64.Regs) (slot uint64, ok bool) {
	lo, hi, ok := mach.LoadPair(r.R14)
	if !ok {
		return 0, false
	}
	return th.hold(th.text.goroutines.find(r.R14), r.SP, lo, hi)
}

// entersGo is enterGo, but that begins makes the instances. If it returns false, the call is not noted.
func (th *thread) entersGo(pt *point, r *amd64.Regs) bool {
	ret, ok := mach.LoadWord(r.SP)
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
	if n >= cs.room || !cs.stack[:n+1][n].holds(pt) {
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
		return true
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
