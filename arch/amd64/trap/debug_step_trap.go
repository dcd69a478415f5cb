//go:build tamago

package trap

// Trap context. A single step over a watched access.
//
// A processor makes one #DB of both. QEMU (7.2) makes two: the second one comes before the first
// instruction of the entry for the first one, so there is no instruction that could change the
// stack. On a stack of the IST it would overwrite the first frame. So
//
// - a step runs with another IDT, whose gate of #DB has no stack of its own. Both frames
//   are then on the interrupted stack. If that has no space, nothing is watched during the
//   step (BlindSteps);
// - entryDebug, to which that gate leads, recognizes a #DB at its own first instruction and
//   returns from it, with DR6 unchanged, and a mark in the first frame. The usual gate leads
//   to entryWatch: without a step there is no second #DB.
//
// On a processor all of them come on the stack of the IST, by entryWatchReal: a program can have one come
// before the first instruction of an entry, where SP is the program's.
//
// QEMU also remembers each data watchpoint that was hit until something else in the page is
// accessed, and reports it in DR6 whenever a step ends. But then there is no second #DB: without
// the mark such bits are of an earlier hit (SetDoubles).
//
// Source: QEMU 7.2, accel/tcg/cpu-exec.c, cpu_handle_interrupt: CPU_INTERRUPT_DEBUG.

import (
	"sync/atomic"
	"unsafe"

	"sonde/arch/amd64"
	"sonde/arch/amd64/debugreg"
	"sonde/kernel/goruntime"
)

var (
	breaker  BreakpointHandler // handles #BP while nothing is watched
	usual    uint64            // the gate of #DB then
	stepIDT  [vectors]amd64.Gate
	stepping [MaxCPUs]uint8
	blind    atomic.Uint64
)

// The state of a CPU during a step.
const (
	noStep      = iota
	otherIDT    // stepIDT
	notWatching // nothing is watched
)

// doubles is whether a step over a watched access causes two #DBs on this machine.
var doubles bool

// SetDoubles sets that: on is true in QEMU.
//
// Context: boot, or while nothing is watched.
func SetDoubles(on bool) { doubles = on }

// twice is the mark that entryDebug sets, above CS in the frame.
const twice = 1 << 32

// hitInStep returns the watchpoints in which that the instruction of r itself has hit.
func hitInStep(r *amd64.Regs, which uint64) uint64 {
	second := r.CS&twice != 0
	r.CS &^= twice
	if doubles && !second {
		which &^= armedData()
	}
	return which
}

// armedData returns the watchpoints that are not execute watchpoints.
func armedData() (which uint64) {
	for n := range debugreg.Num {
		if atomic.LoadUint64(&armed.dr7)>>(16+4*n)&3 != 0 {
			which |= 1 << n
		}
	}
	return which
}

// stepRoom is the space for both frames and the stub, with a margin, in bytes.
const stepRoom = 256

// BlindSteps returns in how many steps nothing was watched, for lack of space on the stack.
//
// Context: any.
func BlindSteps() uint64 { return blind.Load() }

// callEntry is where SYSCALL leads to, and breakEntry where #BP does.
var callEntry, breakEntry uintptr

// SetCallEntry makes known where SYSCALL leads to.
//
// Context: boot.
func SetCallEntry(at uintptr) { callEntry = at }

func watchAddresses() (watch, step, real uintptr)

//go:noescape
func lidt(idtr *[10]byte)

// takeBreakpoint handles #BP while something is watched: it may return to a step.
func takeBreakpoint(r *amd64.Regs, at *Int3) {
	breaker(r, at)
	PrepareStep(r)
}

// PrepareStep prepares this CPU for a step, if r continues with one.
//
// Context: trap, about to return to r.
func PrepareStep(r *amd64.Regs) {
	id := ID(r)
	if watching[id] == 0 || r.Flags&amd64.RFLAGS_TF == 0 || stepping[id] != noStep || !doubles {
		return
	}
	if lo, _ := goruntime.Stack(G(r)); uintptr(r.SP) < lo+stepRoom {
		blind.Add(1)
		stepping[id] = notWatching
		debugreg.WriteDR7(debugreg.DR7_FIXED)
		return
	}
	stepping[id] = otherIDT
	lidt(&stepIDTR)
}

// stepDone undoes PrepareStep on CPU id.
func stepDone(id int) {
	switch stepping[id] {
	case otherIDT:
		lidt(&usualIDTR)
	case notWatching:
		debugreg.WriteDR7(armed.dr7)
	}
	stepping[id] = noStep
}

// usualIDTR and stepIDTR are the operands of LIDT.
var usualIDTR, stepIDTR [10]byte

// stepsWith makes programs run with the IDT for steps, if anything is watched in QEMU: they can set TF at any
// time, and the next instruction may be a watched access. Both #DBs come on the stack of RSP0.
func (r *Ring3) stepsWith(on bool) {
	r.UsualIDT, r.StepIDT = uintptr(unsafe.Pointer(&usualIDTR)), 0
	if on && doubles {
		r.StepIDT = uintptr(unsafe.Pointer(&stepIDTR))
	}
}
