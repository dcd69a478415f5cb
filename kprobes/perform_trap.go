//go:build tamago

package kprobes

// Trap context. How a hit gets the probed instruction executed: by a single step of the
// copy, by deciding a stack check, or by emulation; and what these read of the interrupted
// code.

import (
	"unsafe"

	"sonde/arch/amd64"
	"sonde/arch/amd64/insn"
	"sonde/arch/amd64/insn/emulate"
	"sonde/arch/amd64/msr"
	"sonde/arch/amd64/prologue"
	"sonde/arch/amd64/trap"
	"sonde/kernel/die"
	"sonde/kernel/goruntime"
	"sonde/kprobes/machine"
)

// steps makes the CPU execute the copy and trap after it, without an interrupt in between.
func (pt *point) steps(st *state, r *amd64.Regs) {
	st.phase = stepping
	st.flags = r.Flags & stepFlags
	r.Flags = r.Flags&^amd64.RFLAGS_IF | amd64.RFLAGS_TF
	r.IP = uint64(pt.Slot)
}

// onStep takes #DB. It has all that a hit does after the instruction: finish leads here
// when there was no step, and afterAbandon when a post-handler has been abandoned (see
// onBreakpoint).
func onStep(r *amd64.Regs) {
	st := stateOf(r)
	var pt *point
	if st.phase == stepping {
		pt = asPoint(st.point)
		if !pt.endStep(r, st.flags) {
			return
		}
		if pt.Check.Kind == prologue.Small {
			// It has been counted as a call, so a preemption request that has come
			// meanwhile waits for the next function.
			r.Flags &^= amd64.RFLAGS_CF | amd64.RFLAGS_ZF
		}
		st.follows(pt, r)
	} else if !st.takesOver(r) {
		if st.phase == filming {
			stepFilmed(st, r)
			return
		}
		die.Debug(r) // not from a hit: hits inside a handler do not step
		return
	}
	for k := nextProbe(st); k != nil; k = nextProbe(st) {
		f := k.Flags & (flagOff | flagCareful)
		if k.PostHandler == nil || f&flagOff != 0 {
			continue
		}
		if f != 0 {
			k.callPost(st, r)
			continue
		}
		st.begin(k)
		k.PostHandler(k, r, 0)
		st.end()
	}
	st.phase = idle
}

// callPost calls k's post-handler where that may change X0-X14, IP or SP.
func (k *Kprobe) callPost(st *state, r *amd64.Regs) {
	trap.SaveXMM(r)
	was := spotOf(r)
	st.begin(k)
	k.PostHandler(k, r, 0)
	st.end()
	k.moved(int(st.id), rolePost, r, was, true)
}

// follows notes that the instruction of pt has been executed, so the post-handlers come
// next. After a step, r is another trap's.
func (st *state) follows(pt *point, r *amd64.Regs) {
	st.Frame = uintptr(unsafe.Pointer(r))
	st.next = uintptr(unsafe.Pointer(pt.list.First()))
	st.phase = post
}

// finish ends a hit whose instruction was executed without a step.
func (pt *point) finish(st *state, r *amd64.Regs) {
	if !pt.post.Load() {
		st.phase = idle
		return
	}
	st.follows(pt, r)
	st.handOver(r)
	onStep(r)
}

// endStep moves IP from after the copy to after the original and restores the flags. It
// returns false if the copy is a repeated string instruction that has not ended.
func (pt *point) endStep(r *amd64.Regs, flags uint64) bool {
	if r.IP == uint64(pt.Slot) {
		return false
	}
	if r.IP-uint64(pt.Slot) < machine.SlotSize { // else the step executed the jump back, too (QEMU, PAUSE)
		r.IP += uint64(pt.Addr) - uint64(pt.Slot)
	}
	r.Flags = r.Flags&^uint64(stepFlags) | flags
	return true
}

// passCheck makes r continue after the stack check that pt begins with; or, if other
// instructions of the check have probes, hits those.
func (pt *point) passCheck(st *state, r *amd64.Regs) {
	if pt.Check.Alone(checkCode(&pt.Check, pt.Addr)) {
		pt.Check.Perform(r, uint64(pt.Addr), false)
		pt.finish(st, r)
		return
	}
	st.decided, st.decidedSP = pt.Addr, r.SP
	pt.Check.Skip(r, uint64(pt.Addr), checkCode(&pt.Check, pt.Addr), 1)
	pt.finish(st, r)
	goOn(st, &pt.Check, r, pt.Addr)
}

// decided reports whether pt is within a stack check that a probe at the entry has decided.
// If so, r continues in it as decided; the check is not made again.
func (pt *point) decided(st *state, r *amd64.Regs) bool {
	head := pt.Addr - uintptr(pt.Within)
	if st.decided != head || st.decidedSP != r.SP || !pt.Around.Fits(r, stackLow(trap.G(r)), stackRoom) {
		return false
	}
	if pt.Around.Skip(r, uint64(head), checkCode(&pt.Around, head), pt.Within+1) {
		st.decided = 0
	}
	return true
}

// goOn hits the next breakpoint within the decided stack check at addr. It does so
// directly: if r executed the check instead, the breakpoint might be gone by then, and the
// check would be made again, with another outcome.
func goOn(st *state, c *prologue.Check, r *amd64.Regs, addr uintptr) {
	for uintptr(r.IP)-addr < uintptr(c.Len) {
		if points.Find(uintptr(r.IP)) != nil {
			r.IP++
			onBreakpoint(r, nil)
			return
		}
		c.Skip(r, uint64(addr), checkCode(c, addr), uint8(uintptr(r.IP)-addr)+1)
	}
	st.decided = 0 // the next check here is another call's, and not decided yet
}

// checkCode returns the current code of the stack check c at addr.
func checkCode(c *prologue.Check, addr uintptr) []byte {
	return unsafe.Slice(*(**byte)(unsafe.Pointer(&addr)), c.Len) // Safe because: text is mapped for good
}

// perform executes an instruction on r. It loads and stores in the interrupted code's own
// memory, so it faults where the instruction would; r is unchanged then.
//
// Context: trap.
func perform(op *emulate.Op, r *amd64.Regs) {
	var v uint64
	if addr, ok := op.Loads(r, segmentBase(op.Seg())); ok {
		v = load(addr)
	}
	if p, ok := op.Pushes(r); ok {
		store(r.SP-8, p)
	}
	op.Finish(r, v)
}

// segmentBase returns the interrupted kernel code's base of seg: traps from ring 0 do not
// change it.
func segmentBase(seg insn.Seg) uint64 {
	switch seg {
	case insn.SegFS:
		return msr.Read(amd64.MSR_FS_BASE)
	case insn.SegGS:
		return msr.Read(amd64.MSR_GS_BASE)
	}
	return 0
}

// stackRoom is what a stack check leaves free above the end of a stack, in bytes.
const stackRoom = goruntime.StackRoom

// stackGuard returns the stack limit of g that stack checks compare with.
func stackGuard(g unsafe.Pointer) uint64 { return uint64(goruntime.StackGuard(g)) }

// stackLow returns the lowest address of g's stack.
func stackLow(g unsafe.Pointer) uint64 {
	lo, _ := goruntime.Stack(g)
	return uint64(lo)
}
