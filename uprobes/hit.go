package uprobes

import (
	"sonde/arch/amd64"
	"sonde/arch/amd64/prologue"
	"sonde/linux/proc"
	"sonde/probe/ledger"
)

const (
	vecDebug      = amd64.VEC_DB
	vecBreakpoint = amd64.VEC_BP
)

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

// hit does everything that belongs to a hit.
func (th *thread) hit(pt *point) {
	r := th.Regs()
	r.IP = uint64(pt.addr)
	if th.again.ip != 0 && th.goesOn(pt) {
		return
	}
	if th.told != toldNothing {
		th.completeTold(pt)
		return
	}
	if th.tied == 0 && pt.trap.Load() != nil {
		th.tie() // the next hit will not come here
	}
	decided, grows := false, false
	if pt.check.Kind != prologue.None {
		decided, grows = th.decide(pt)
	}
	if grows {
		return // the function begins again with more stack: that is the hit
	}
	if th.after != nil {
		th.after = nil
	}
	th.wants = uint8(pt.alone.Load())
	members := pt.members.All()
	if th.wants == 0 {
		th.begin()
		for i := 0; i < len(members); {
			i = th.handlers(members, i)
		}
		th.finish()
	}
	if th.wants == 0 && !decided && r.IP == uint64(pt.addr) {
		th.execute(pt)
		return
	}
	th.complete(pt, members, decided)
}

// completeTold does the rest of a hit whose handlers have been called in trap context.
func (th *thread) completeTold(pt *point) {
	decided := th.told == toldDecided
	th.told = toldNothing
	th.complete(pt, pt.members.All(), decided)
}

// complete is the rest of a hit that is not the usual one.
func (th *thread) complete(pt *point, members []*member, decided bool) {
	r := th.Regs()
	if th.wants&wantsSkip != 0 || r.IP != uint64(pt.addr) { // a handler has changed IP
		th.after = nil
		return
	}
	switch {
	case th.wants&(wantsEntry|wantsStay) == 0:
	case th.wants&wantsGo != 0:
		th.enterGo(members)
	default:
		th.enterCall(members, th.wants&wantsEntry == 0)
	}
	if decided {
		pt.check.Perform(r, r.IP, false)
		th.executed()
		return
	}
	sp := r.SP
	th.execute(pt)
	if r.IP == uint64(pt.addr) {
		return
	}
	if th.wants&wantsReturn != 0 {
		th.goReturned(members, r)
	}
	switch {
	case th.wants&wantsExit == 0:
	case th.wants&wantsGo != 0:
		th.exitGo(sp)
	default:
		th.exit(pt, sp)
	}
}

// handlers calls the handlers of a hit from an index on, and returns the index where to
// continue: behind a handler that has panicked.
func (th *thread) handlers(members []*member, from int) (next int) {
	r, p := th.Regs(), th.t.Process()
	defer func() {
		if th.in != nil {
			th.broke(recover())
		}
	}()
	th.counts = true
	for next = from; next < len(members); {
		m := members[next]
		next++
		switch {
		case m.process != p:
		case m.wants != 0:
			th.wants |= m.asks()
		case m.startHit():
			th.in = m
			th.t.EnterHandler()
			m.u.Handler(m.u, r)
			th.handled()
		default:
			m.refused()
		}
	}
	return next
}

// startHit counts a hit of m, and reports whether its handler may run.
func (m *member) startHit() bool {
	m.Count(ledger.Entered)
	return m.enter() && !m.flags.Has(disabled)
}

// goReturned calls the handlers of return probes of Go functions after a return instruction
// has been executed.
func (th *thread) goReturned(members []*member, r *amd64.Regs) {
	th.begin()
	for _, m := range members {
		if m.wants == wantsReturn && m.process == th.t.Process() && !m.flags.Has(disabled) {
			m.hitReturn(th, r)
		}
	}
	th.finish()
}

// hitReturn says that a return instruction of a Go function has been executed.
func (m *member) hitReturn(th *thread, r *amd64.Regs) {
	in := UretprobeInstance{RetAddr: r.IP, RP: m.ret}
	m.Count(ledger.Entered)
	m.call(th, func() { m.ret.Handler(&in, r) })
}

// goesOn executes the instruction of pt if a signal had interrupted it; this is not a hit.
func (th *thread) goesOn(pt *point) bool {
	r := th.Regs()
	again := th.again == moment{r.IP, r.SP}
	if th.again = (moment{}); again {
		th.execute(pt)
	}
	return again
}

// stackGuard is the offset of the stack limit in Go's g.
const stackGuard = 16

// decide decides the stack check that a Go function begins with, and performs it if the
// stack must grow: otherwise its entry would be hit twice. It decides nothing if there is
// no check, or if another point is within it.
//
// Source: Go 1.26 cmd/internal/obj/x86, stacksplit.
func (th *thread) decide(pt *point) (decided, grows bool) {
	if th.text.crowded(pt) {
		return false, false
	}
	r := th.Regs()
	guard, err := th.Load(r.R14 + stackGuard)
	if err != nil {
		return false, false
	}
	if grows = pt.check.Grows(r, guard); grows {
		pt.check.Perform(r, r.IP, true)
	}
	return true, grows
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

// begin is called before handlers. It and finish are small enough to be inlined: under an
// emulator a call costs as much as tens of instructions.
func (th *thread) begin() {
	if !th.listed {
		th.list()
	}
	th.handling = true
}

// finish is called after handlers, and does what they have asked for.
func (th *thread) finish() {
	if th.queue != nil {
		th.carryOut()
	}
	th.handling = false
}

func (th *thread) list() {
	running.Store(mach.Goroutine(), th)
	th.listed = true
}
