package uprobes

import (
	"fmt"
	"runtime"
	"unsafe"

	"sonde/arch/amd64"
	"sonde/arch/amd64/user"
	"sonde/kernel/printk"
	"sonde/probe/handler"
	"sonde/probe/ledger"
	"sonde/uprobes/place"
)

// Trap context, or the thread's goroutine. How the handlers of a hit are called.

// side is in what context a hit is handled. The code of hits is compiled for each: what only the other one
// does is left out by the compiler, and no trap reaches it.
type side interface{ trapSide | goroutineSide }

type (
	trapSide      struct{}
	goroutineSide struct{ _ byte }
)

// blocks reports whether this is the code for the thread's goroutine. It is a constant.
func blocks[W side]() bool {
	var w W
	return unsafe.Sizeof(w) > 0
}

// begin notes that a handler of m starts, and keeps the program's X0-X14 if it may change them.
func (st *state) begin(m *member, r *amd64.Regs) {
	if m.careful {
		st.SaveVectors(r)
	}
	st.Begin(uintptr(unsafe.Pointer(m)))
}

// memberAt returns the probe at a place of the list that a hit goes through, nil at the end, and the next place.
func memberAt(place uintptr) (m *member, next uintptr) {
	m = **(***member)(unsafe.Pointer(&place)) // Safe because: a hit's list is kept until it is over
	return m, place + unsafe.Sizeof(m)
}

// nextMember returns the probe that comes next, or nil at the end.
func (st *state) nextMember() (m *member) {
	m, st.next = memberAt(st.next)
	return m
}

// callHandlers calls the handlers that are left. In the trap, it then gets the instruction executed.
func callHandlers[W side](st *state, r *amd64.Regs) (done bool) {
	th := asThread(st.thread)
	p := th.t.Process()
	for m := st.nextMember(); m != nil; m = st.nextMember() {
		switch {
		case m.process != p:
		case m.wants != 0:
			th.wants |= m.asks()
		case blocks[W]() && !th.starts(m, unregistered|abandoned|disabled), !blocks[W]() && m.flags.Has(unregistered|abandoned|disabled):
			m.passed()
		default:
			m.Count(ledger.Entered)
			st.begin(m, r)
			m.u.Handler(m.u, r)
			if blocks[W]() {
				th.handled()
			}
			st.End()
			m.Count(ledger.Handled)
			if blocks[W]() {
				m.leave()
			}
		}
	}
	pt := asPoint(st.point)
	if blocks[W]() {
		th.finish()
		return true
	}
	if r.IP != uint64(pt.addr) { // a handler has changed IP
		th.told = toldNothing
		return fixUp(r)
	}
	user.FixUp(r) // its IP is valid
	switch {
	case th.wants != 0:
		return completes[trapSide](th, st, pt, r)
	case th.told == toldAll && pt.plan.Way <= place.Boost:
		return th.skips(pt, r)
	}
	return th.performsHere(st, pt, r)
}

// callReturns calls the handlers of a call that are left.
func callReturns[W side](st *state, r *amd64.Regs) (done bool) {
	th, c := asThread(st.thread), asCall(st.call)
	for int(st.at) < len(c.of) {
		in := &c.of[st.at]
		st.at++
		m := in.m
		if blocks[W]() && !th.starts(m, unregistered|abandoned) || !blocks[W]() && m.flags.Has(unregistered|abandoned) {
			m.End(ledger.Disarmed)
		} else {
			st.begin(m, r)
			m.ret.Handler(&in.UretprobeInstance, r)
			if blocks[W]() {
				th.handled()
			}
			st.End()
			m.End(ledger.Handled)
			if blocks[W]() {
				m.leave()
			}
		}
		if blocks[W]() {
			in.end()
			continue
		}
		keep(&in.RP, nil) // it may not be reused for a long time
		keep(&in.m, nil)
	}
	c.of = c.of[:0]
	if blocks[W]() {
		th.finish()
		return true
	}
	return fixUp(r)
}

// callGoReturns calls the handlers of return probes of Go functions that are left, after a return instruction
// has been executed.
func callGoReturns[W side](st *state, r *amd64.Regs) (done bool) {
	th := asThread(st.thread)
	p := th.t.Process()
	for m := st.nextMember(); m != nil; m = st.nextMember() {
		switch {
		case m.wants != wantsReturn || m.process != p || m.flags.Has(disabled):
			continue
		case blocks[W]() && !th.starts(m, unregistered|abandoned), !blocks[W]() && m.flags.Has(unregistered|abandoned):
			m.passed()
			continue
		}
		m.Count(ledger.Entered)
		st.in.ret, st.in.rp = r.IP, uintptr(unsafe.Pointer(m.ret))
		st.begin(m, r)
		m.ret.Handler((*UretprobeInstance)(unsafe.Pointer(&st.in)), r)
		if blocks[W]() {
			th.handled()
		}
		st.End()
		m.Count(ledger.Handled)
		if blocks[W]() {
			m.leave()
		}
	}
	if blocks[W]() {
		th.finish()
		return true
	}
	return fixUp(r)
}

// resume calls the handlers of a hit that are left.
func resume[W side](st *state, r *amd64.Regs) (done bool) {
	switch st.doing {
	case callsHits:
		return callHandlers[W](st, r)
	case callsNone:
		return completes[W](asThread(st.thread), st, asPoint(st.point), r)
	case callsEntries:
		return callEntries[W](st, r)
	case callsReturns:
		return callReturns[W](st, r)
	case callsGoReturns:
		return callGoReturns[W](st, r)
	case callsGoExits:
		return callGoExits[W](st, r)
	}
	return true
}

// abandons counts a handler of m that has not returned.
func (st *state) abandons(m *member) {
	switch st.doing {
	case callsHits, callsGoReturns:
		m.Count(ledger.Abandoned)
	case callsEntries, callsReturns, callsGoExits:
		m.End(ledger.Abandoned)
	}
}

// starts is called before a handler of m, and reports whether it may be called: m has none of these flags. Then
// handled and leave must follow.
func (th *thread) starts(m *member, f ledger.Flags) bool {
	if m.running.Add(1); m.flags.Has(f) {
		m.leave()
		return false
	}
	th.own.Probe = uintptr(unsafe.Pointer(m))
	th.t.EnterHandler()
	return true
}

// handled is called after a handler that has returned.
func (th *thread) handled() {
	if !th.t.LeaveHandler() {
		runtime.Goexit() // broke does the rest
	}
}

// tell calls a handler of m for a hit that has been counted.
func (m *member) tell(th *thread, handler func()) {
	defer func() {
		if th.own.Probe != 0 {
			th.broke(recover())
		}
	}()
	st := &th.own
	if st.doing = callsAfter; th.starts(m, unregistered|abandoned) {
		st.begin(m, nil)
		handler()
		th.handled()
		st.End()
		m.leave()
	}
}

// broke is called when a handler has not returned: e is what it panicked with, or nil if it
// ended its goroutine. Or its thread has ended without it; then forget has done the rest.
func (th *thread) broke(e any) {
	if !th.t.LeaveHandler() {
		running.Delete(mach.Goroutine())
		runtime.Goexit()
	}
	m := asMember(th.own.Probe)
	th.own.End()
	m.fail(th, e)
	m.leave()
}

// fail disables a probe whose handler did not return. The program continues.
func (m *member) fail(th *thread, e any) {
	th.own.abandons(m)
	m.flags.Set(abandoned)
	handler.Panicked("uprobes", fmt.Sprintf("the probe at %#x of process %d", m.vaddr, m.pid), e)
}

// leaveBehind is called when the thread ends without its goroutine, in which a handler of m
// does not return.
func (m *member) leaveBehind(th *thread) {
	th.own.abandons(m)
	printk.Err("uprobes: the handler of the probe at %#x of process %d%s does not return: thread %d ends without it", m.vaddr, m.pid, m.from(), th.t.TID)
	m.leave()
	if doing := th.own.doing; doing == callsReturns || doing == callsGoExits { // the handlers after it will not be called
		c := asCall(th.own.call)
		c.of = c.of[th.own.at:]
		c.leave()
	}
}

// from names m's module.
func (m *member) from() string {
	if m.owner == "" {
		return ""
	}
	return " by module " + m.owner
}

func (m *member) leave() {
	if m.running.Add(-1) == 0 && m.flags.Has(unregistered) {
		m.once.Do(func() { close(m.idle) })
	}
}

// completes notes the call that begins at a point, and gets the instruction executed.
func completes[W side](th *thread, st *state, pt *point, r *amd64.Regs) (done bool) {
	wants := th.wants
	if wants&(wantsEntry|wantsStay) != 0 {
		if !enters[W](th, st, pt, r) {
			if !blocks[W]() {
				return th.moves(r)
			}
			st.misses()
		}
		wants = th.wants &^ (wantsEntry | wantsStay)
		th.wants = wants
	}
	switch {
	case wants&(wantsMore|wantsExit) == 0:
	case wants&wantsMore != 0:
		return begins[W](st, r)
	case !blocks[W]():
		return th.leaves(st, pt, r)
	}
	switch {
	case blocks[W]():
		return th.performs(pt, r)
	case th.told == toldAll && pt.plan.Way <= place.Boost:
		return th.skips(pt, r)
	}
	return th.performsHere(st, pt, r)
}
