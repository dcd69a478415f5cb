//go:build tamago

package kprobes

// Trap context. What happens between the breakpoint and the probed instruction.
// onBreakpoint and onStep and what they call leave X0-X14 alone:
// reach.HitKeepsSSE checks it.

import (
	"unsafe"

	"sonde/arch/amd64"
	"sonde/arch/amd64/prologue"
	"sonde/arch/amd64/trap"
	"sonde/kernel/die"
	"sonde/kprobes/machine"
	"sonde/kprobes/place"
	"sonde/probe/ledger"
)

// onBreakpoint takes #BP, of the point that is at b, if the entry has found it. It has all that a hit does before the instruction: onDetour leads
// here for a hit by a jump, and afterAbandon when a handler has been abandoned and the rest
// remains. Both pass the hit's own frame, which distinguishes them from a nested hit.
// The function is long because each call of another function here would cost a tenth
// of a hit.
//
// The pre-handlers are called in order of registration. If one returns non-zero, it has
// taken over: the remaining ones and the instruction are skipped, as on Linux. A hit by a
// jump ignores the value: kprobes.txt §1.4, note.
func onBreakpoint(r *amd64.Regs, b *trap.Int3) {
	st := stateOf(r)
	if st.phase == idle {
		pt := (*point)(unsafe.Pointer(b)) // Safe because: the table has points, which begin with it
		if pt == nil {
			if pt = points.Find(uintptr(r.IP) - 1); pt == nil {
				die.Breakpoint(r)
				return
			}
		}
		if pt.Check.Kind != prologue.None && pt.Check.Grows(r, stackGuard(trap.G(r))) { // not a call yet
			pt.grow(r)
			return
		}
		st.begins(pt, r)
	} else if !st.takesOver(r) {
		reenter(st, r)
		return
	}
	for k := nextProbe(st); k != nil; k = nextProbe(st) {
		n := k.ledger.On(int(st.id))
		n[ledger.Entered]++
		if special := k.Flags & (flagOff | flagSpecial | flagNotes); special == 0 {
			st.begin(k)
			ret := k.PreHandler(k, r)
			st.end()
			n[ledger.Handled]++
			if ret == 0 {
				continue
			}
			k.tookOver(r)
		} else if special == flagNotes {
			asKretprobe(k).note(st, int(st.id), r) // it counts for itself
			continue
		} else if !k.callSpecial(st, int(st.id), r) {
			continue
		}
		if r.Vector != amd64.VecDetour {
			st.phase = idle
			return
		}
	}
	pt := asPoint(st.point)
	if to := pt.lead.Load(); to != 0 && r.Vector != amd64.VecDetour {
		r.IP = uint64(to)
		st.phase = idle
		return
	}
	switch way := place.Way(pt.way.Load()); {
	case r.Vector == amd64.VecDetour:
		pt.performs(st, place.Detoured, r)
	case way == place.Stepped:
		pt.steps(st, r)
	default:
		pt.performs(st, way, r)
	}
}

// performs gets the instruction executed, and ends the hit unless a step or another
// breakpoint follows.
func (pt *point) performs(st *state, way place.Way, r *amd64.Regs) {
bare:
	switch way {
	case place.Boosted, place.Branched, place.Detoured:
		r.IP = uint64(pt.leads(way))
	case place.Stepped:
		pt.steps(st, r)
		return
	case place.Decided:
		pt.passCheck(st, r)
		return
	case place.Emulated:
		st.phase = emulating
		perform(&pt.Op, r)
		pt.finish(st, r)
		return
	case place.Within:
		if pt.decided(st, r) {
			pt.finish(st, r)
			goOn(st, &pt.Around, r, pt.Addr-uintptr(pt.Within))
			return
		}
		way = pt.Bare(pt.post.Load())
		goto bare
	default: // it is place.Recorded
		pt.performFilmed(st, way&^place.Recorded, r)
		return
	}
	st.phase = idle
}

// begins notes that a hit of pt begins.
func (st *state) begins(pt *point, r *amd64.Regs) {
	st.phase = pre
	st.Frame = uintptr(unsafe.Pointer(r))
	st.point = uintptr(unsafe.Pointer(pt))
	st.next = uintptr(unsafe.Pointer(pt.list.First()))
}

// In a hit by a jump, interrupts are as the probed code has them (kprobes.txt §5), so an
// interrupt with probes may come at any point. This CPU's phase is set first; from then on
// those are nested hits.

// onDetour is onBreakpoint for a hit of pt by a jump.
func onDetour(r *amd64.Regs, pt *point) {
	id := trap.ID(r)
	st := states[id]
	if st.phase != idle {
		pt.countMissed(id)
		r.IP = uint64(pt.resume.Load())
		return
	}
	st.phase = pre
	st.soft++ // before the list is read: see drainJumps
	st.listed = st.soft
	st.begins(pt, r)
	r.IP = uint64(pt.Addr) + 1
	st.handOver(r)
	onBreakpoint(r, nil)
}

// initOthers makes others a probe that hits can call.
//
// Context: boot, goroutine.
func initOthers() {
	others.PreHandler = callOthers
	others.ledger.Open(machine.This.CPUs)
}

// callOthers is the handler of others. The code of the hit has entered that, and looks for a return probe at the point
// afterwards: onDetour has been to that.
func callOthers(_ *Kprobe, r *amd64.Regs) int {
	st := stateOf(r)
	pt := asPoint(st.point)
	st.end()
	st.phase = idle
	if lean {
		onDetour(r, pt)
	} else {
		onDetourEager(r, pt)
	}
	st.phase = pre // until the code of the hit has read what follows: an interrupt's hit would leave its own
	st.point = uintptr(unsafe.Pointer(&nowhere))
	return 0
}

// nowhere is a point without probes.
var nowhere point

// onDetourEager is for handlers that may change X0-X14.
func onDetourEager(r *amd64.Regs, pt *point) {
	trap.SaveXMM(r)
	onDetour(r, pt)
}

// handOver makes onBreakpoint or onStep, called next with r, continue the hit whose frame
// is r; takesOver is how they ask. A hit that comes in between, in an interrupt, has
// another frame.
func (st *state) handOver(r *amd64.Regs) { st.handed = uintptr(unsafe.Pointer(r)) }

func (st *state) takesOver(r *amd64.Regs) bool {
	if st.handed != uintptr(unsafe.Pointer(r)) {
		return false
	}
	st.handed = 0
	return true
}

// nextProbe returns the next probe of the list that a hit goes through, or nil at
// the end.
func nextProbe(st *state) *Kprobe {
	k := **(***Kprobe)(unsafe.Pointer(&st.next)) // Safe because: mu's holders keep the list
	st.next += unsafe.Sizeof(k)
	return k
}

// callSpecial calls k's handler in the cases that are not simple: k is disabled, is a
// jprobe, has no pre-handler, or has one that may change X0-X14. The hit has been counted
// as entered.
func (k *Kprobe) callSpecial(st *state, id int, r *amd64.Regs) (taken bool) {
	if k.Flags.Has(flagOff) {
		k.ledger.Count(id, ledger.Disarmed)
		return false
	}
	if k.Flags.Has(flagCareful) {
		trap.SaveXMM(r)
	}
	switch {
	case k.kind == kindKretprobe:
		asKretprobe(k).note(st, id, r) // it counts for itself
		return false
	case k.kind == kindJprobe:
		st.begin(k)
		asJprobe(k).mirror(id, r)
		st.end()
	case k.PreHandler != nil:
		was := spotOf(r)
		st.begin(k)
		taken = k.PreHandler(k, r) != 0
		st.end()
		k.moved(id, rolePre, r, was, taken)
		if taken && (r.IP == was.ip || r.Vector == amd64.VecDetour) {
			k.tookOver(r)
		}
	}
	k.ledger.Count(id, ledger.Handled)
	return taken
}

// grow makes r continue at the call of morestack: the hit is counted when the function
// starts again.
func (pt *point) grow(r *amd64.Regs) {
	if c := pt.camera(); c != nil {
		c.grows(r)
	}
	if pt.Check.Alone(checkCode(&pt.Check, pt.Addr)) {
		pt.Check.Perform(r, uint64(pt.Addr), true)
		return
	}
	pt.passBy(r)
}

// reenter handles a hit inside a handler: it counts it as missed and gets the instruction
// executed.
func reenter(st *state, r *amd64.Regs) {
	pt := points.Find(uintptr(r.IP) - 1)
	if pt == nil {
		die.Breakpoint(r)
		return
	}
	pt.countMissed(int(st.id))
	pt.passBy(r)
}

func (pt *point) countMissed(id int) {
	if films[id] != 0 {
		asCamera(films[id]).nested(id, pt)
	}
	for _, k := range pt.probes() {
		k.ledger.CountNested(id, ledger.Missed) // one event: the handler may be abandoned here
	}
}

// passBy gets the instruction executed without calling handlers. The copy in a detour
// begins after the stack check, so the check is made here.
func (pt *point) passBy(r *amd64.Regs) {
	if place.Way(pt.way.Load()) == place.Detoured {
		if pt.Check.Kind != prologue.None && pt.Check.Grows(r, stackGuard(trap.G(r))) {
			pt.Check.Perform(r, uint64(pt.Addr), true)
			return
		}
		r.IP = uint64(pt.resume.Load())
		return
	}
	if pt.NeedsSlot() {
		r.IP = uint64(pt.Slot) // any instruction that can be stepped can run as a copy
	} else {
		perform(&pt.Op, r)
	}
}
