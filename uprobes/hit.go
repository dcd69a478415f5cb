package uprobes

import (
	"runtime"
	"unsafe"

	"sonde/arch/amd64"
	"sonde/arch/amd64/prologue"
	"sonde/arch/amd64/user"
	"sonde/linux/proc"
)

// A hit begins where its breakpoint arrives, or in the thread's goroutine. In the trap, all that may need the
// goroutine is done before anything has changed, or leaves a note for it (told).

const (
	vecDebug      = amd64.VEC_DB
	vecBreakpoint = amd64.VEC_BP
)

// onHit implements user.Hit for the thread that tie has passed on.
//
// Context: trap.
func onHit(r *amd64.Regs, at uintptr, id int) (done bool) {
	th := asThread(at)
	if r.Vector == vecDebug {
		return th.stepEnds(r)
	}
	return th.comesBack(&states[id].state, r)
}

// onBreak implements user.BreakHit.
//
// Context: trap.
func onBreak(r *amd64.Regs, at uintptr, id int, found uintptr) (done bool) {
	th, st, pt := asThread(at), &states[id].state, asPoint(found)
	addr := uintptr(r.IP) - 1
	if pt == nil {
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
		if known, grows := th.decide(st, pt, r); !known || grows {
			th.told = toldNothing
			return known && user.FixUp(r)
		}
	}
	r.IP = uint64(addr)
	st.thread, st.point = at, uintptr(unsafe.Pointer(pt))
	first := uintptr(unsafe.Pointer(list))
	st.list = first
	switch th.wants = uint8(pt.alone.Load()); th.wants {
	case 0:
		st.doing, st.next = callsHits, first
		return callHandlers[trapSide](st, r)
	case wantsReturn:
		return th.performsHere(st, pt, r)
	}
	return completes[trapSide](th, st, pt, r) // there are no handlers to call
}

// fixUp makes r valid for the program: handlers may have changed it. If it returns false, the goroutine has to.
//
// Context: trap.
func fixUp(r *amd64.Regs) (done bool) {
	if !user.FixUp(r) {
		r.Vector = uint64(user.NotEntered)
		return false
	}
	return true
}

// moves leaves what remains of a hit to the goroutine.
//
// Context: trap.
func (th *thread) moves(r *amd64.Regs) (done bool) {
	r.IP++ // as the breakpoint has left it
	return false
}

// onAbandoned continues with a hit whose handler has been abandoned: it implements user.Hit.
//
// Context: trap.
func onAbandoned(r *amd64.Regs, _ uintptr, id int) (done bool) {
	st := &states[id].state
	st.abandons(asMember(st.Probe))
	st.End()
	return resume[trapSide](st, r)
}

// Under QEMU, a hit costs what it takes to look up each return, each indirect call and each
// call into another page, more than the instructions themselves. So the usual hit has few
// functions: exception, hit, handlers, execute. Rare cases are in others.

// exception handles an exception of t's program, and reports whether it did.
//
// Context: t's goroutine.
func exception(t *proc.Thread, vector int) (done bool) {
	th, _ := t.Probes.(*thread)
	if th == nil || th.text.mem != t.Memory() {
		if th = meet(t); th == nil {
			return false
		}
	}
	switch {
	case vector == vecBreakpoint:
		addr := th.Regs().IP - 1
		if pt := th.text.points.First(uintptr(addr)); pt != nil && uint64(pt.addr) == addr {
			th.hit(pt)
			return true
		}
		return th.breakpoint(addr)
	case vector == vecDebug:
		return th.debug()
	case th.returning():
		return th.returned() // the trampoline could not push; its caller need not know
	}
	th.restoreIP()
	return th.after != nil && th.faulted(vector)
}

// breakpoint looks for the point that was hit, where it was not found at once.
func (th *thread) breakpoint(addr uint64) bool {
	if pt := th.text.points.Find(uintptr(addr)); pt != nil {
		th.hit(pt)
		return true
	}
	done := th.stray(addr)
	th.told = toldNothing
	return done
}

// stray handles a breakpoint without a point. There may have been one a moment ago; then
// the instruction is executed as it is. Points are found before their breakpoints are put in,
// and until those are gone, so it needs no lock: if points have changed meanwhile, it looks again.
func (th *thread) stray(addr uint64) bool {
	x := th.text
	for {
		n := x.changes.Load()
		if pt := x.points.Find(uintptr(addr)); pt != nil {
			th.hit(pt)
			return true
		}
		if x.knew(addr) == nil {
			return false
		}
		if x.mem.Recheck(addr) {
			th.Regs().IP = addr
			return true
		}
		if x.changes.Load() == n { // a breakpoint of ours would have its point
			return false
		}
	}
}

// hit does everything that belongs to a hit, or what is left of it: told says how far the trap has come.
func (th *thread) hit(pt *point) {
	r, st, list := th.Regs(), &th.own, pt.members.First()
	r.IP = uint64(pt.addr)
	if th.again.ip != 0 && th.goesOn(pt) {
		return
	}
	st.point, st.list = uintptr(unsafe.Pointer(pt)), uintptr(unsafe.Pointer(list))
	if th.told == toldNothing {
		switch {
		case pt.trap.Load() == nil:
			if pt.unmade.Load() {
				pt.makeStub()
			}
		case th.tied == 0:
			th.tie() // the next hit will not come here
		}
		th.told = toldAll
		if pt.check.Kind != prologue.None {
			if _, grows := th.decide(st, pt, r); grows {
				th.told = toldNothing
				return // the function begins again with more stack: that is the hit
			}
		}
		if th.after != nil {
			th.after = nil
		}
		if th.wants = uint8(pt.alone.Load()); th.wants == 0 {
			st.doing, st.next = callsHits, st.list
			th.begin()
			th.run()
		}
	}
	switch {
	case th.wants&wantsSkip != 0 || r.IP != uint64(pt.addr): // a handler has changed IP
		th.told, th.after = toldNothing, nil
	case th.wants == 0 && th.told == toldAll:
		th.told = toldNothing
		th.execute(pt)
	case th.wants&^(wantsEntry|wantsStay) == 0: // no handler is called
		completes[goroutineSide](th, st, pt, r)
	default:
		st.doing = callsNone
		th.run()
	}
	runtime.KeepAlive(list)
}

// run continues with a hit until it is over, after handlers that do not return as well.
func (th *thread) run() {
	for !th.resumes() {
	}
}

func (th *thread) resumes() (over bool) {
	defer func() {
		if th.own.Probe != 0 {
			th.broke(recover())
		}
	}()
	switch st, r := &th.own, th.Regs(); st.doing { // the usual ones need no further call
	case callsHits:
		callHandlers[goroutineSide](st, r)
	case callsReturns:
		callReturns[goroutineSide](st, r)
	default:
		resume[goroutineSide](st, r)
	}
	return true
}

// performs gets the instruction executed, and ends the call that it may be the end of.
func (th *thread) performs(pt *point, r *amd64.Regs) (done bool) {
	sp, decided := r.SP, th.told == toldDecided
	if th.told = toldNothing; decided {
		pt.check.Perform(r, r.IP, false)
		th.executed()
		return true
	}
	if th.execute(pt); r.IP == uint64(pt.addr) {
		return true
	}
	if th.wants&wantsReturn != 0 {
		th.own.doing, th.own.next = callsGoReturns, th.own.list
		th.begin()
		th.run()
	}
	switch {
	case th.wants&wantsExit == 0:
	case th.wants&wantsGo != 0:
		th.exitGo(sp)
	default:
		th.exit(pt, sp)
	}
	return true
}

// goesOn executes the instruction of pt if a signal had interrupted it; this is not a hit.
func (th *thread) goesOn(pt *point) bool {
	r := th.Regs()
	again := th.again == moment{r.IP, r.SP}
	th.again = moment{}
	th.looks()
	if again {
		th.execute(pt)
	}
	return again
}

// decide decides the stack check that a Go function begins with, and performs it if the stack must grow:
// otherwise its entry would be hit twice. It decides nothing if another point is within the check. Not known: the
// stack's limit is not in memory.
//
// Context: any.
// Source: Go 1.26 cmd/internal/obj/x86, stacksplit.
func (th *thread) decide(st *state, pt *point, r *amd64.Regs) (known, grows bool) {
	if th.text.crowded(pt) {
		return true, false
	}
	guard, ok := st.LoadWord(r.R14 + stackGuard)
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

// crowded reports whether another point is within the stack check at pt.
//
// Context: any.
func (x *text) crowded(pt *point) bool {
	for i := uintptr(1); i < uintptr(pt.check.Len); i++ {
		if x.points.Find(pt.addr+i) != nil {
			return true
		}
	}
	return false
}
