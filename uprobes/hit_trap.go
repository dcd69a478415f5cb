package uprobes

// Trap context. A hit that is handled where it arrives. All of it that may need the thread's
// goroutine is done before anything has changed, or leaves a note for the goroutine (told).

import (
	"unsafe"

	"sonde/arch/amd64"
	"sonde/arch/amd64/prologue"
	"sonde/arch/amd64/user"
	"sonde/probe/ledger"
	"sonde/uprobes/place"
)

// onHit implements user.Hit for the thread that tie has passed on.
func onHit(r *amd64.Regs, at uintptr, id int) (done bool) {
	th, st := asThread(at), &states[id].state
	switch {
	case r.Vector == vecDebug:
		return th.stepEnds(r)
	case r.Vector != vecBreakpoint:
		return th.comesBack(st, r)
	}
	addr := uintptr(r.IP) - 1
	pt := th.text.points.First(addr)
	if pt == nil || pt.addr != addr {
		if pt = th.text.points.Find(addr); pt == nil {
			return false
		}
	}
	list := pt.trap.Load()
	if list == nil || r.Flags&amd64.RFLAGS_TF != 0 || th.again.ip != 0 || th.after != nil {
		return false
	}
	th.told = toldAll
	if pt.check.Kind != prologue.None {
		if known, grows := th.decides(pt, r); !known || grows {
			th.told = toldNothing
			return known && user.FixUp(r)
		}
	}
	r.IP = uint64(addr)
	st.thread, st.point = at, uintptr(unsafe.Pointer(pt))
	st.list = uintptr(unsafe.Pointer(list))
	if th.wants = uint8(pt.alone.Load()); th.wants != 0 { // there are no handlers to call
		return th.completes(st, pt, r)
	}
	st.doing, st.next = callsHits, st.list
	return st.callHandlers(r)
}

// decides is decide. Not known: the goroutine has to find out.
func (th *thread) decides(pt *point, r *amd64.Regs) (known, grows bool) {
	if th.text.crowded(pt) {
		return true, false
	}
	guard, ok := mach.LoadWord(r.R14 + stackGuard)
	if !ok {
		return false, false
	}
	if pt.check.Grows(r, guard) {
		pt.check.Perform(r, uint64(pt.addr), true)
		return true, true
	}
	th.told = toldDecided
	return true, false
}

// callHandlers calls the handlers that are left, and then gets the instruction executed.
func (st *state) callHandlers(r *amd64.Regs) (done bool) {
	th := asThread(st.thread)
	p := th.t.Process()
	for m := st.nextMember(); m != nil; m = st.nextMember() {
		switch {
		case m.process != p:
		case m.wants != 0:
			th.wants |= m.asks()
		case m.flags.Has(unregistered | abandoned | disabled):
			m.passed()
		default:
			m.Count(ledger.Entered)
			st.begin(m, r)
			m.u.Handler(m.u, r)
			st.End()
			m.Count(ledger.Handled)
		}
	}
	pt := asPoint(st.point)
	if r.IP != uint64(pt.addr) { // a handler has changed IP
		th.told = toldNothing
		return fixUp(r)
	}
	user.FixUp(r) // its IP is valid
	if th.wants == 0 && th.told == toldAll && pt.plan.Way <= place.Boost {
		th.told = toldNothing
		if r.IP = pt.slot; pt.plan.Way == place.Nothing {
			r.IP = pt.plan.Next()
		}
		return true
	}
	return th.completes(st, pt, r)
}

// fixUp makes r valid for the program: handlers may have changed it. If it returns false, the goroutine has to.
func fixUp(r *amd64.Regs) (done bool) {
	if !user.FixUp(r) {
		r.Vector = uint64(user.NotEntered)
		return false
	}
	return true
}

// completes is complete.
func (th *thread) completes(st *state, pt *point, r *amd64.Regs) (done bool) {
	if th.wants&(wantsEntry|wantsStay) != 0 {
		if !th.enters(st, pt, r) {
			return th.moves(r)
		}
		th.wants &^= wantsEntry | wantsStay
	}
	if th.wants&(wantsExit|wantsMore) != 0 {
		if th.wants&wantsMore != 0 {
			return st.begins(r)
		}
		return th.leaves(st, pt, r)
	}
	switch {
	case th.told == toldDecided:
		pt.check.Perform(r, r.IP, false)
	case pt.plan.Way == place.Nothing:
		r.IP = pt.plan.Next()
	case pt.plan.Way == place.Boost:
		r.IP = pt.slot
	case pt.plan.Way == place.Step:
		th.dueDB = false
		keep(&th.away, pt)
		th.saved = pt.stepped.Enter(r, pt.slot)
	case !th.emulates(pt.plan, r):
		return th.moves(r)
	}
	th.told = toldNothing
	if th.wants&wantsReturn != 0 {
		st.doing, st.next = callsGoReturns, st.list
		return st.callGoReturns(r)
	}
	return true
}

// moves leaves what remains of a hit to the goroutine.
func (th *thread) moves(r *amd64.Regs) (done bool) {
	r.IP++ // as the breakpoint has left it
	return false
}

// stepEnds is debug for a step that is the kernel's alone.
func (th *thread) stepEnds(r *amd64.Regs) (done bool) {
	pt := th.away
	if pt == nil || th.dueDB || th.waited || th.after != nil {
		return false
	}
	if pt.stepped.After(r, pt.slot, th.saved) {
		keep(&th.away, nil)
	}
	return fixUp(r)
}

// emulates executes an instruction on r, and reports whether it did: where it would fault, or the
// program's memory is not there, nothing has changed.
func (th *thread) emulates(p *place.Plan, r *amd64.Regs) bool {
	var v uint64
	if addr, ok := p.Loads(r); ok {
		if v, ok = mach.LoadWord(addr); !ok {
			return false
		}
	}
	w, pushes := p.Pushes(r)
	ip, sp, cx, flags := r.IP, r.SP, r.CX, r.Flags
	ok := true
	if p.Finish(r, v); pushes {
		_, ok = mach.SwapWord(sp-8, w)
	}
	if !ok || r.IP >= user.End {
		r.IP, r.SP, r.CX, r.Flags = ip, sp, cx, flags
		return false
	}
	return true
}
