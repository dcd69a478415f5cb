package runtime

// What the kernel reads of a g, and its way to what abandons a handler.
//
// Why it is here: offsets are the compiler's to say, and only inside the runtime
// can it be asked. Kernel code comes here by package kernel/goruntime alone.

import "unsafe"

// Where in a g something is, in bytes.
const (
	SondeStackLo    = unsafe.Offsetof(g{}.stack) + unsafe.Offsetof(stack{}.lo)
	SondeStackHi    = unsafe.Offsetof(g{}.stack) + unsafe.Offsetof(stack{}.hi)
	SondeStackGuard = unsafe.Offsetof(g{}.stackguard0)
	SondeGoid       = unsafe.Offsetof(g{}.goid)
	SondeCalls      = unsafe.Offsetof(g{}.sondeRet)
	SondeM          = unsafe.Offsetof(g{}.m)
)

// SondeCurg is where in an m its goroutine is: nil in a trap.
const SondeCurg = unsafe.Offsetof(m{}.curg)

// SondeStackPreempt is what the limit of a g's stack is while the g is to yield.
const SondeStackPreempt = stackPreempt

// SondeStackRoom is by how much a stack's limit is above its end, in bytes.
const SondeStackRoom = stackGuard

// A goroutine that runs for something of the kernel's, a thread of a program, has that
// in its g, where a trap finds it. The collector sees it.

// SondeSetThread says what the calling goroutine runs for.
func SondeSetThread(thread unsafe.Pointer) { getg().sondeThread = thread }

// SondeThread returns what the goroutine runs for whose M runs g0, which is that
// goroutine's g or one of the M's own; nil for nothing.
//
//go:nosplit
func SondeThread(g0 unsafe.Pointer) unsafe.Pointer {
	gp := (*g)(g0)
	if current := (*g)(SondeCurrent(g0)); current != nil {
		gp = current
	}
	if gp == nil {
		return nil
	}
	return gp.sondeThread
}

// SondeCurrent returns the goroutine whose M runs g0, which is that goroutine's g or one of the M's own; nil: it
// runs none.
//
//go:nosplit
func SondeCurrent(g0 unsafe.Pointer) unsafe.Pointer {
	gp := (*g)(g0)
	if gp == nil || gp.m == nil {
		return nil
	}
	return unsafe.Pointer(gp.m.curg)
}

// SondeEnded reports whether goroutine gp has ended.
//
//go:nosplit
func SondeEnded(gp unsafe.Pointer) bool { return readgstatus((*g)(gp))&^_Gscan == _Gdead }

// SondeLeft returns where goroutine gp continues, which leaves its CPU or has left it; 0: it runs.
//
//go:nosplit
func SondeLeft(gp unsafe.Pointer) (pc, sp uintptr) {
	g := (*g)(gp)
	if readgstatus(g)&^_Gscan == _Grunning {
		return 0, 0
	}
	return g.sched.pc, g.sched.sp
}

// SondeThreadOf returns what goroutine gp runs for, whether or not it runs; nil for nothing.
//
//go:nosplit
func SondeThreadOf(gp unsafe.Pointer) unsafe.Pointer { return (*g)(gp).sondeThread }

// SondeLabels returns the labels of the goroutine that gp is, or that gp serves as the stack of its scheduler; nil for
// none.
//
//go:nosplit
func SondeLabels(gp unsafe.Pointer) unsafe.Pointer {
	if current := (*g)(SondeCurrent(gp)); current != nil {
		return current.labels
	}
	return (*g)(gp).labels
}

// SondeWaitReason returns what goroutine gp waits for, or did last.
//
//go:nosplit
func SondeWaitReason(gp unsafe.Pointer) string {
	if w := (*g)(gp).waitreason; int(w) < len(waitReasonStrings) {
		return waitReasonStrings[w]
	}
	return "unknown"
}

// SondeGC returns what the collector does (0 nothing, 1 it marks, 2 it ends marking) and how many
// collections have ended.
//
//go:nosplit
func SondeGC() (phase, ended uint32) { return gcphase, memstats.numgc }

// SondeGoroutine reports whether goroutine gp runs or wants to, and what it waits for
// otherwise.
func SondeGoroutine(gp unsafe.Pointer) (runs bool, waits string) {
	switch g := (*g)(gp); readgstatus(g) &^ _Gscan {
	case _Gsyscall: // blocks its thread
		return false, "event"
	case _Gwaiting:
		return false, g.waitreason.String()
	}
	return true, ""
}

// SondeSelf returns the current g.
//
//go:nosplit
func SondeSelf() unsafe.Pointer { return unsafe.Pointer(getg()) }

// SondeAbandon is sondeAbandon.
//
//go:nosplit
//go:nowritebarrierrec
func SondeAbandon(why string) { sondeAbandon(why) }

// SondeQueued returns how many goroutines wait for the P on which gp runs, or for any; 0 for one that does not
// run.
//
//go:nosplit
func SondeQueued(gp unsafe.Pointer) int {
	if gp == nil {
		return 0
	}
	mp := (*g)(gp).m
	if mp == nil || mp.p == 0 {
		return 0
	}
	pp := mp.p.ptr()
	n := int(pp.runqtail-pp.runqhead) + int(sched.runq.size)
	if pp.runnext != 0 {
		n++
	}
	return n
}
