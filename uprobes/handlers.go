package uprobes

// Trap context, or the thread's goroutine. How the handlers of a hit are called.

import (
	"fmt"
	"runtime"
	"unsafe"

	"sonde/arch/amd64"
	"sonde/arch/amd64/trap"
	"sonde/arch/amd64/user"
	"sonde/kernel/printk"
	"sonde/probe/handler"
	"sonde/probe/ledger"
	"sonde/uprobes/machine"
	"sonde/uprobes/place"
)

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

// state is one CPU's, or in the goroutine the thread's. Interrupts are off in a trap, so nothing else changes
// it. What it points to is kept by others for as long as the hit lasts: see docs/decisions.md.
type state struct {
	handler.State // Probe is the member whose handler runs
	machine.Program
	doing  doing
	at     int32   // index of the next instance of call
	list   uintptr // the **member that is the first of the point
	next   uintptr // the one that comes next
	thread uintptr // the *thread that was hit
	point  uintptr // the *point, unless a call returns to the trampoline
	call   uintptr // the *call that has returned
	// in is a *UretprobeInstance for returns of Go functions, which have no call.
	in struct {
		ret  uint64
		rp   uintptr
		data [3]uintptr
	}
}

// doing is which handlers a hit calls.
type doing uint8

const (
	callsNone      doing = iota // all of those that are first have been called
	callsHits                   // those of the point
	callsEntries                // the entry handlers of a call
	callsReturns                // those of a call
	callsGoReturns              // those of a return instruction of Go's
	callsGoExits                // those of a call of a goroutine
	callsAfter                  // those of KprobeUsers, for a hit that has been counted
)

// states is spaced so that no two CPUs write to one cache line.
var states [trap.MaxCPUs]struct {
	state
	_ [256 - unsafe.Sizeof(state{})]byte
}

// asThread, asPoint and asMember turn a kept address back. Safe because: see state.
func asThread(p uintptr) *thread { return *(**thread)(unsafe.Pointer(&p)) }
func asPoint(p uintptr) *point   { return *(**point)(unsafe.Pointer(&p)) }
func asMember(p uintptr) *member { return *(**member)(unsafe.Pointer(&p)) }
func asCall(p uintptr) *call     { return *(**call)(unsafe.Pointer(&p)) }

// keep stores p without a write barrier. Safe because: see docs/decisions.md.
func keep[T any](at **T, p *T) { *(*uintptr)(unsafe.Pointer(at)) = uintptr(unsafe.Pointer(p)) }

// keepSlice is keep for a slice.
func keepSlice[T any](at *[]T, p []T) {
	*(*[3]uintptr)(unsafe.Pointer(at)) = *(*[3]uintptr)(unsafe.Pointer(&p))
}

// begin notes that a handler of m starts, and keeps the program's X0-X14 if it may change them.
func (st *state) begin(m *member, r *amd64.Regs) {
	if m.careful {
		st.SaveVectors(r)
	}
	st.Begin(uintptr(unsafe.Pointer(m)))
}

// nextMember returns the next probe of the list that a hit goes through, or nil at the end.
func (st *state) nextMember() *member {
	m := **(***member)(unsafe.Pointer(&st.next)) // Safe because: a hit's list is kept until it is over
	st.next += unsafe.Sizeof(m)
	return m
}

// handlingHere returns the thread whose handler this CPU runs in trap context, or nil.
func handlingHere() *thread {
	if st := &states[mach.CPU()].state; st.Probe != 0 {
		return asThread(st.thread)
	}
	return nil
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
		return completes[W](th, st, pt, r)
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

// This does not compile unless state.in is laid out as a UretprobeInstance.
var _ [0]struct{} = [unsafe.Sizeof(UretprobeInstance{}) - unsafe.Sizeof(state{}.in)]struct{}{}

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
