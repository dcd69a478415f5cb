//go:build tamago

package kprobes

// Trap context. What happens between the breakpoint and the instruction behind
// the probe. onBreakpoint and onStep and what they call leave X0-X14 alone:
// reach.HitKeepsSSE checks it.

import (
	"unsafe"

	"sonde/arch/amd64"
	"sonde/arch/amd64/prologue"
	"sonde/arch/amd64/trap"
	"sonde/kernel/die"
)

const stepFlags = amd64.RFLAGS_TF | amd64.RFLAGS_IF

// onBreakpoint takes #BP. It is long, and repeats in place what callPre and
// execute do for the common case of one probe: each call of a function here is
// a tenth of what a hit costs.
func onBreakpoint(r *amd64.Regs) {
	at := uintptr(r.IP) - 1
	s := first(at)
	if s == nil || s.addr != at {
		if s = find(at); s == nil {
			die.Breakpoint(r)
			return
		}
	}
	id := trap.ID(r)
	st := &states[id].state
	if st.phase != idle {
		s.reenter(st, id, r)
		return
	}
	if s.check.Kind != prologue.None && s.check.Grows(r, stackGuard(trap.G(r))) { // not a call yet
		s.grow(st, r)
		return
	}
	st.phase = pre
	st.frame = uintptr(unsafe.Pointer(r))
	st.site = uintptr(unsafe.Pointer(s))
	sole := s.sole.Load()
	if sole == 0 {
		st.begins(s, r)
		s.callPre(st, id, r)
		return
	}
	st.list = 0
	k := asProbe(sole)
	n := &k.ledger[id].n
	n[entered]++
	if k.kind == kindKretprobe {
		asKretprobe(k).enter(st, id, r) // it counts for itself
	} else {
		st.begin(k)
		ret := k.PreHandler(k, r)
		st.end()
		n[handled]++
		if ret != 0 {
			st.phase = idle
			return
		}
	}
	switch means(s.how.Load()) {
	case meansSlot:
		r.IP = uint64(s.slot)
	case meansStep:
		st.phase = stepping
		st.flags = r.Flags & stepFlags
		s.startStep(r)
		return
	case meansJump:
		r.IP = s.to
	case meansCheck:
		s.check.Perform(r, uint64(s.addr), false)
	case meansDetour:
		r.IP = uint64(s.resume.Load())
	default:
		s.execute(st, id, r)
		return
	}
	st.phase = idle
}

// begins prepares for callPre to go through all probes of s.
func (st *state) begins(s *site, r *amd64.Regs) {
	if s.sse.Load() {
		trap.SaveXMM(r)
	}
	st.list = uintptr(unsafe.Pointer(s.list.Load()))
	st.index = 0
}

// grow has r take the way to morestack: the call is counted when the function
// starts again.
func (s *site) grow(st *state, r *amd64.Regs) {
	if s.check.Alone(checkCode(&s.check, s.addr)) {
		s.check.Perform(r, uint64(s.addr), true)
		return
	}
	s.passBy(st, r)
}

// callPre calls the pre-handlers from st.index on, in order of registration,
// and then has the instruction executed. One that returns non-zero has taken
// over: the rest and the instruction are skipped, as on Linux.
func (s *site) callPre(st *state, id int, r *amd64.Regs) {
	for list := st.probes(); st.index < len(list); {
		k := list[st.index]
		st.index++
		k.ledger.count(id, entered)
		if k.has(FlagDisabled | flagGone) {
			k.ledger.count(id, disarmed)
			continue
		}
		if k.sse { // asked for each: the list may have changed since the site was asked
			trap.SaveXMM(r)
		}
		if k.kind == kindKretprobe {
			asKretprobe(k).enter(st, id, r) // it counts for itself
			continue
		}
		ret := 0
		st.begin(k)
		if k.kind == kindJprobe {
			asJprobe(k).enter(id, r)
		} else if k.PreHandler != nil {
			ret = k.PreHandler(k, r)
		}
		st.end()
		k.ledger.count(id, handled)
		if ret != 0 && r.Vector != amd64.VecDetour {
			st.phase = idle
			return
		}
	}
	if r.Vector != amd64.VecDetour && means(s.how.Load()) == meansSlot {
		r.IP = uint64(s.slot)
		st.phase = idle
		return
	}
	s.execute(st, id, r)
}

// execute does the probed instruction, or starts to: a step ends in onStep.
func (s *site) execute(st *state, id int, r *amd64.Regs) {
	if r.Vector == amd64.VecDetour || means(s.how.Load()) == meansDetour {
		r.IP = uint64(s.resume.Load())
		st.phase = idle
		return
	}
	wantPost := s.post.Load()
	if s.within > 0 && s.decided(st, r) {
		s.finish(st, id, r)
		goOn(&s.around, r, s.addr-uintptr(s.within))
		return
	}
	switch {
	case s.slot == 0:
		st.phase = emulating
		s.emulate(r)
		s.finish(st, id, r)
	case s.check.Kind != prologue.None && !(wantPost && s.check.Kind == prologue.Small) && s.check.Alone(checkCode(&s.check, s.addr)):
		s.check.Perform(r, uint64(s.addr), false)
		s.finish(st, id, r)
	case s.check.Kind > prologue.Small:
		st.decided, st.decidedSP = s.addr, r.SP
		s.check.Skip(r, uint64(s.addr), checkCode(&s.check, s.addr), 1)
		s.finish(st, id, r)
		goOn(&s.check, r, s.addr)
	case s.boost && !wantPost:
		r.IP = uint64(s.slot)
		st.phase = idle
	default:
		st.phase = stepping
		st.flags = r.Flags & stepFlags
		s.startStep(r)
	}
}

// decided reports whether s is within a stack check that a probe at the entry has
// decided; then r goes on in it, as decided: the check is not made once more.
func (s *site) decided(st *state, r *amd64.Regs) bool {
	head := s.addr - uintptr(s.within)
	if st.decided != head || st.decidedSP != r.SP || !s.around.Fits(r, stackLow(trap.G(r)), stackRoom) {
		return false
	}
	if s.around.Skip(r, uint64(head), checkCode(&s.around, head), s.within+1) {
		st.decided = 0
	}
	return true
}

// goOn has r, within the stack check at addr that has been decided, hit the next
// breakpoint there. It does not go there to hit it: that might be gone by then,
// and the check be made once more, with another outcome.
func goOn(c *prologue.Check, r *amd64.Regs, addr uintptr) {
	for uintptr(r.IP)-addr < uintptr(c.Len) {
		if find(uintptr(r.IP)) != nil {
			r.IP++
			onBreakpoint(r)
			return
		}
		c.Skip(r, uint64(addr), checkCode(c, addr), uint8(uintptr(r.IP)-addr)+1)
	}
}

// checkCode is the stack check c, which stands at addr, as it is now.
func checkCode(c *prologue.Check, addr uintptr) []byte {
	return unsafe.Slice(*(**byte)(unsafe.Pointer(&addr)), c.Len) // Safe because: text is mapped for good
}

// startStep has the CPU execute the copy and trap behind it, with no interrupt
// in between.
func (s *site) startStep(r *amd64.Regs) {
	r.Flags = r.Flags&^amd64.RFLAGS_IF | amd64.RFLAGS_TF
	r.IP = uint64(s.slot)
}

// onStep takes #DB. Like onBreakpoint it repeats what finish and callPost do for
// the common case.
func onStep(r *amd64.Regs) {
	id := trap.ID(r)
	st := &states[id].state
	if st.phase != stepping || st.nested != 0 {
		if st.nested == 0 {
			die.Debug(r)
		} else if asSite(st.nested).endStep(r, st.nFlags) {
			st.nested = 0
		}
		return
	}
	s := asSite(st.site)
	if !s.endStep(r, st.flags) {
		return
	}
	sole := s.sole.Load()
	if sole == 0 || asProbe(sole).PostHandler == nil || s.check.Kind != prologue.None {
		s.finishStep(st, id, r)
		return
	}
	k := asProbe(sole)
	st.frame = uintptr(unsafe.Pointer(r))
	st.list = 0
	st.phase = post
	st.begin(k)
	k.PostHandler(k, r, 0)
	st.end()
	st.phase = idle
}

// finishStep ends a hit whose instruction has been stepped.
func (s *site) finishStep(st *state, id int, r *amd64.Regs) {
	if s.check.Kind == prologue.Small {
		// Counted as a call: a preemption request that came meanwhile waits
		// for the next function.
		r.Flags &^= amd64.RFLAGS_CF | amd64.RFLAGS_ZF
	}
	s.finish(st, id, r)
}

// endStep moves IP from behind the copy to behind the original and restores the
// flags. False: the copy is a repeated string instruction that is not done.
func (s *site) endStep(r *amd64.Regs, flags uint64) bool {
	if r.IP == uint64(s.slot) {
		return false
	}
	if r.IP-uint64(s.slot) < slotSize { // else the step took the jump back, too (QEMU, PAUSE)
		r.IP += uint64(s.addr) - uint64(s.slot)
	}
	r.Flags = r.Flags&^uint64(stepFlags) | flags
	return true
}

// finish ends a hit whose instruction has been done.
func (s *site) finish(st *state, id int, r *amd64.Regs) {
	if !s.post.Load() {
		st.phase = idle
		return
	}
	if s.sse.Load() {
		trap.SaveXMM(r)
	}
	st.frame = uintptr(unsafe.Pointer(r)) // after a step this is another trap
	st.list = uintptr(unsafe.Pointer(s.list.Load()))
	st.index = 0
	st.phase = post
	s.callPost(st, id, r)
}

// callPost calls the post-handlers from st.index on.
func (s *site) callPost(st *state, id int, r *amd64.Regs) {
	for list := st.probes(); st.index < len(list); {
		k := list[st.index]
		st.index++
		if k.PostHandler == nil || k.has(FlagDisabled|flagGone) {
			continue
		}
		if k.sse {
			trap.SaveXMM(r)
		}
		st.begin(k)
		k.PostHandler(k, r, 0)
		st.end()
	}
	st.phase = idle
}

// reenter is a hit inside a handler: it is counted as missed and the
// instruction executed, nothing more.
func (s *site) reenter(st *state, id int, r *amd64.Regs) {
	s.countMissed(id)
	s.passBy(st, r)
}

func (s *site) countMissed(id int) {
	for _, k := range s.probes() {
		k.ledger.countNested(id, missed) // one event: the handler may be abandoned here
	}
}

// passBy has the instruction executed and calls nobody. The copy in a detour
// begins behind the stack check, which is made here then.
func (s *site) passBy(st *state, r *amd64.Regs) {
	switch {
	case means(s.how.Load()) == meansDetour:
		if s.check.Kind != prologue.None && s.check.Grows(r, stackGuard(trap.G(r))) {
			s.check.Perform(r, uint64(s.addr), true)
			return
		}
		r.IP = uint64(s.resume.Load())
	case s.slot == 0:
		s.emulate(r)
	case s.boost:
		r.IP = uint64(s.slot)
	default:
		st.nested = uintptr(unsafe.Pointer(s))
		st.nFlags = r.Flags & stepFlags
		s.startStep(r)
	}
}
