package runtime

// What a kernel's trap layer needs of the runtime.
//
// Why it is here: trap handlers are Go and need a g to run on, and only the
// runtime can make one, turn a fault into a panic, or walk a goroutine's stack.
//
// Handlers run on a g of their own per CPU and stack, with an m of their own
// whose gsignal it is. To the runtime that is a signal handler: allocating
// throws, the stack check works, systemstack stays where it is. It shares
// nothing with the interrupted M, so a probe inside malloc or print is safe.

import (
	"internal/abi"
	"unsafe"
)

const (
	sondeTrapCPUs   = 32
	sondeTrapStacks = 3
)

var (
	sondeTrapG [sondeTrapCPUs][sondeTrapStacks]g
	sondeTrapM [sondeTrapCPUs][sondeTrapStacks]m
)

// SondeTrapG makes the g for one trap stack of one CPU.
//
// Context: boot, before the runtime.
//
//go:nosplit
func SondeTrapG(cpu, i int, lo, hi uintptr) unsafe.Pointer {
	gp, mp := &sondeTrapG[cpu][i], &sondeTrapM[cpu][i]
	gp.stack = stack{lo, hi}
	gp.stackguard0 = lo + stackGuard
	gp.stackguard1 = lo + stackGuard
	gp.m = mp
	mp.g0 = gp
	mp.gsignal = gp
	mp.id = -1 - int64(cpu)
	return unsafe.Pointer(gp)
}

// SondeSigpanic makes the goroutine gp, interrupted by a fault at *pc, call
// sigpanic when it continues, as Linux's signal handler would arrange. It refuses
// where the runtime could not survive a panic; the fault is then fatal.
//
// Context: trap.
//
//go:nowritebarrierrec
func SondeSigpanic(g0 unsafe.Pointer, sig uint32, code, addr uintptr, pc, sp *uintptr) bool {
	gp := (*g)(g0)
	mp := gp.m
	if mp == nil || gp != mp.curg || gp.throwsplit {
		return false
	}
	if mp.locks != 0 || mp.mallocing != 0 || mp.throwing != throwTypeNone || mp.preemptoff != "" || mp.dying != 0 {
		return false
	}
	if readgstatus(gp)&^_Gscan != _Grunning || gp.syscallsp != 0 {
		return false
	}
	gp.sig, gp.sigcode0, gp.sigcode1, gp.sigpc = sig, code, addr, *pc
	if shouldPushSigpanic(gp, *pc, *(*uintptr)(unsafe.Pointer(*sp))) {
		*sp -= 8
		*(*uintptr)(unsafe.Pointer(*sp)) = *pc
	}
	*pc = abi.FuncPCABI0(sigpanic0)
	return true
}

// SondePanicsOnFault reports whether the goroutine has asked for faults at any address to
// be panics (debug.SetPanicOnFault).
//
// Context: any.
func SondePanicsOnFault(g0 unsafe.Pointer) bool { return (*g)(g0).paniconfault }

// SondeTurn returns which turn of its P's the goroutine has, a number that changes whenever
// one ends, and whether it has been asked to end it.
//
// Context: trap.
//
//go:nowritebarrierrec
func SondeTurn(g0 unsafe.Pointer) (turn uint32, asked bool) {
	gp := (*g)(g0)
	if mp := gp.m; mp != nil && mp.curg == gp && mp.p != 0 {
		return mp.p.ptr().schedtick, gp.stackguard0 == stackPreempt
	}
	return 0, false
}

// sondeSIGXCPU is Linux's number: "cpu limit exceeded".
const sondeSIGXCPU = 24

// SondeExpel makes the goroutine, interrupted at *pc, panic when it continues, as a signal
// SIGXCPU would. It refuses where the goroutine could not be preempted.
//
// Context: trap.
//
//go:nowritebarrierrec
func SondeExpel(g0 unsafe.Pointer, pc, sp *uintptr) bool {
	ok, _ := isAsyncSafePoint((*g)(g0), *pc, *sp, 0)
	return ok && SondeSigpanic(g0, sondeSIGXCPU, 0, 0, pc, sp)
}

// SondeCallers stores the return addresses of the stack at pc, sp of the
// interrupted g, and returns how many. It allocates nothing. With inlined, it
// stores an address for each call that was inlined, too, as runtime.Callers does.
//
// Context: any but the goroutine itself.
func SondeCallers(g0 unsafe.Pointer, pc, sp uintptr, buf []uintptr, inlined bool) (n int) {
	var u unwinder
	u.initAt(pc, sp, 0, (*g)(g0), unwindSilentErrors|unwindTrap|unwindJumpStack)
	if inlined {
		return tracebackPCs(&u, 0, buf)
	}
	for ; n < len(buf) && u.valid(); u.next() {
		id := u.frame.fn.funcID
		if id != abi.FuncIDWrapper || !elideWrapperCalling(u.calleeFuncID) {
			buf[n] = u.symPC() + 1
			n++
		}
		u.calleeFuncID = id
	}
	return n
}

// SondeTask returns the goroutine that is running; 0 for none, as in a trap.
//
//go:nosplit
func SondeTask() uintptr { return uintptr(unsafe.Pointer(getg().m.curg)) }

// SondeNote is what a goroutine sleeps on until it is woken, once. The zero
// SondeNote is ready.
type SondeNote = note

// SondeSleepOn blocks the calling goroutine, not its P, until the note is
// woken or ns nanoseconds have passed (ns < 0: never).
//
// Context: goroutine.
func SondeSleepOn(n *SondeNote, ns int64) bool { return notetsleepg(n, ns) }

// SondeNoteClear makes a note ready again after it has woken a goroutine.
func SondeNoteClear(n *SondeNote) { noteclear(n) }

// SondeYieldAll asks the goroutines that run on other CPUs to yield.
func SondeYieldAll() { preemptall() }
