//go:build tamago

package kprobes

// Trap context. The single step of the copy, and what happens behind the probed
// instruction.

import (
	"unsafe"

	"sonde/arch/amd64"
	"sonde/arch/amd64/prologue"
	"sonde/arch/amd64/trap"
	"sonde/kernel/die"
)

const stepFlags = amd64.RFLAGS_TF | amd64.RFLAGS_IF

// startStep has the CPU execute the copy and trap behind it, with no interrupt
// in between.
func (s *site) startStep(r *amd64.Regs) {
	r.Flags = r.Flags&^amd64.RFLAGS_IF | amd64.RFLAGS_TF
	r.IP = uint64(s.slot)
}

// onStep takes #DB. It is the one text for what a hit does behind the instruction:
// finish leads here when there was no step, and afterAbandon when a post-handler
// has been given up (see onBreakpoint).
func onStep(r *amd64.Regs) {
	id := trap.ID(r)
	st := &states[id].state
	var s *site
	if st.phase == stepping && st.nested == 0 {
		s = asSite(st.site)
		if !s.endStep(r, st.flags) {
			return
		}
		if s.check.Kind == prologue.Small {
			// Counted as a call: a preemption request that came meanwhile waits
			// for the next function.
			r.Flags &^= amd64.RFLAGS_CF | amd64.RFLAGS_ZF
		}
		st.follows(s, r)
	} else if !st.takesOver(r) {
		st.endNested(r)
		return
	}
	for k := nextProbe(st); k != nil; k = nextProbe(st) {
		f := k.Flags & (flagOff | flagSSE)
		if k.PostHandler == nil || f&flagOff != 0 {
			continue
		}
		if f != 0 {
			trap.SaveXMM(r)
		}
		st.begin(k)
		k.PostHandler(k, r, 0)
		st.end()
	}
	st.phase = idle
}

// follows notes that the instruction of s has been done: the post-handlers come.
// After a step r is another trap.
func (st *state) follows(s *site, r *amd64.Regs) {
	st.frame = uintptr(unsafe.Pointer(r))
	st.next = uintptr(unsafe.Pointer(s.list.First()))
	st.phase = post
}

// finish ends a hit whose instruction has been done without a step.
func (s *site) finish(st *state, id int, r *amd64.Regs) {
	if !s.post.Load() {
		st.phase = idle
		return
	}
	st.follows(s, r)
	st.handOver(r)
	onStep(r)
}

// endNested takes a #DB that is no hit's: of a step in a handler, or nobody's.
func (st *state) endNested(r *amd64.Regs) {
	if st.nested == 0 {
		die.Debug(r)
	} else if asSite(st.nested).endStep(r, st.nFlags) {
		st.nested = 0
	}
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
