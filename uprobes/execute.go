package uprobes

import (
	"errors"

	"sonde/arch/amd64"
	"sonde/linux/proc"
	"sonde/linux/space"
	"sonde/uprobes/place"
)

// execute gets the instruction of a point executed as its plan says. IP is at the point.
func (th *thread) execute(pt *point) {
	r := th.Regs()
	dueDB := pt.plan.DueDB(r.Flags)
	if pt.plan.Way == place.Nothing && !dueDB {
		r.IP = pt.plan.Next()
		th.executed()
		return
	}
	switch pt.plan.Way {
	case place.Nothing, place.Emulate:
		if err := pt.plan.Do(th); err != nil {
			th.deliver(err)
			return
		}
		th.executed()
		if dueDB {
			th.t.Raise(vecDebug)
		}
	case place.Syscall:
		pt.plan.Call(r)
		th.t.SystemCall()
		th.executed()
	case place.Boost:
		if pt.stepped != nil && (dueDB || th.after != nil) {
			th.step(pt)
			return
		}
		r.IP = pt.slot
	case place.Step:
		th.step(pt)
	}
}

// step makes the thread single-step the copy.
func (th *thread) step(pt *point) {
	th.dueDB = pt.plan.DueDB(th.Regs().Flags)
	th.away, th.saved = pt, pt.stepped.Enter(th.Regs(), pt.slot)
}

// deliver gives the program the exception that its instruction causes.
func (th *thread) deliver(err error) {
	var f *place.Fault
	if !errors.As(err, &f) {
		panic(err)
	}
	th.Regs().Err = f.Err
	switch {
	case th.after != nil && th.faulted(f.Vector):
	case f.Vector != amd64.VEC_PF:
		th.t.Raise(f.Vector)
	case th.stored:
		th.t.Access(f.Addr, space.Write)
	default:
		th.t.Access(f.Addr, space.Read)
	}
}

// debug handles a #DB. It returns true if the copy of an instruction has been stepped, and
// the program is not stepping itself; otherwise the #DB is the program's own.
func (th *thread) debug() bool {
	r := th.Regs()
	switch {
	case th.returning():
		th.returned()
		return false
	case th.away == nil:
		th.restoreIP()
		return false
	}
	if !th.away.stepped.After(r, th.away.slot, th.saved) {
		return true // it repeats itself
	}
	th.away, th.waited = nil, false
	th.executed()
	return !th.dueDB
}

// restoreIP sets IP from the copy to the original instruction: the copy has caused an
// exception, which the program must see as if the instruction had not been executed.
func (th *thread) restoreIP() {
	if th.away != nil {
		th.away.stepped.Undo(th.Regs(), th.away.slot, th.saved)
		th.away = nil
		return
	}
	if pt := th.text.slotAt(th.Regs().IP); pt != nil {
		th.Regs().IP, _ = pt.plan.Back(th.Regs().IP, pt.slot)
	}
}

// away makes t leave its slot, because a signal's frame must show original addresses. It
// reports whether the copy must be executed first.
//
// Context: t's goroutine.
func away(t *proc.Thread) bool {
	th, _ := t.Probes.(*thread)
	if th == nil {
		return false
	}
	r := t.Regs()
	if th.away == nil {
		if th.returning() {
			th.returned()
			return false
		}
		pt := th.text.slotAt(r.IP)
		if pt == nil {
			return false
		}
		if r.IP != pt.slot || pt.stepped == nil {
			r.IP, _ = pt.plan.Back(r.IP, pt.slot)
			return false
		}
		th.step(pt)
	}
	if r.IP == th.away.slot && th.away.plan.In.IsRep() {
		th.again = moment{uint64(th.away.addr), r.SP}
		th.looks()
		th.restoreIP()
		return false
	}
	th.waited = true
	return true
}

// systemCall handles a SYSCALL if it was the trampoline's, and reports whether it was.
//
// Context: t's goroutine.
func systemCall(t *proc.Thread) (done bool) {
	th := of(t)
	if th == nil || th.Regs().IP-uint64(len(place.Trampoline)) != th.text.trampoline.Load() {
		return false
	}
	r := th.Regs()
	if r11, rcx, err := th.text.mem.LoadPair(r.SP); err == nil { // otherwise its stack has just been unmapped
		r.R11, r.CX = r11, rcx
	}
	r.SP += place.PushedAll
	if !th.returned() {
		t.Raise(vecBreakpoint)
	}
	if th.tied != 0 {
		th.tie() // the next return will not come here
	}
	return true
}

// returning reports whether IP is in the trampoline, and if so sets it back to the
// beginning.
func (th *thread) returning() bool {
	r, at := th.Regs(), th.text.trampoline.Load()
	off := r.IP - at
	if at == 0 || off >= uint64(len(place.Trampoline)) {
		return false
	}
	r.SP += place.Pushed[off]
	r.IP = at
	return true
}

// skips gets an instruction executed that the kernel has nothing to do for.
//
// Context: trap.
func (th *thread) skips(pt *point, r *amd64.Regs) (done bool) {
	th.told = toldNothing
	if r.IP = pt.slot; pt.plan.Way == place.Nothing {
		r.IP = pt.plan.Next()
	}
	return true
}

// performsHere gets the instruction executed where its breakpoint has arrived.
//
// Context: trap.
func (th *thread) performsHere(st *state, pt *point, r *amd64.Regs) (done bool) {
	switch {
	case th.told == toldDecided:
		pt.check.Perform(r, r.IP, false)
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
		return callGoReturns[trapSide](st, r)
	}
	return true
}

// stepEnds is debug for a step that is the kernel's alone.
//
// Context: trap.
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
