package runtime

// Which CPU runs which thread: see sonde_shim.go.
//
// Why it is here: a program that is bound to some CPUs is, while it runs, its goroutine's
// thread, which the shim puts on a CPU. So the thread is bound, until it runs another
// goroutine. A thread that waits for its CPU keeps its P meanwhile.
//
// Rejected: LockOSThread for such a goroutine, with a thread of its own that is bound. Each
// wait would take two more switches of threads.

import (
	"internal/runtime/atomic"
	machine "runtime/goos"
	"unsafe"
)

// sondeMay reports whether c may run t.
//
//go:nosplit
func sondeMay(c *sondeCPU, t *sondeThread) bool { return t.cpus == 0 || t.cpus&c.bit != 0 }

// sondeNext returns the runnable thread that c runs next, nil if there is none. Called
// under sondeLock.
//
//go:nosplit
func sondeNext(c *sondeCPU) *sondeThread {
	t := sondeRunq.head
	for t != nil && !sondeMay(c, t) {
		t = t.next
	}
	return t
}

// sondeWakeIdle wakes an idle CPU for a runnable thread, and reports whether there is one.
// Called under sondeLock.
//
//go:nosplit
func sondeWakeIdle(t *sondeThread) bool {
	for i := 0; i < machine.CPUs; i++ {
		if c := &sondeCPUs[i]; c.idle && sondeMay(c, t) {
			c.idle = false
			sondeKicks |= c.bit
			return true
		}
	}
	return false
}

// sondeMark tells the CPUs that may run t that it waits. If they went by the length of the queue, a
// CPU would give up its thread for one that an idle CPU is about to take.
//
//go:nosplit
func sondeMark(t *sondeThread) {
	for i := 0; i < machine.CPUs; i++ {
		if c := &sondeCPUs[i]; sondeMay(c, t) {
			atomic.Xchg((*uint32)(unsafe.Pointer(&c.wanted)), 1) // a barrier
		}
	}
}

// sondeWant says that t waits for a CPU and none is idle. It gets one CPU out of ring 3,
// which will yield; if none is there, the next one that wants to go there does. Where both
// are bound, t waits for the end of the other's slice instead: each would drive the other
// out at once. Called under sondeLock.
//
//go:nosplit
func sondeWant(t *sondeThread) {
	if t.cpus == 0 {
		sondeMark(t)
	}
	for i := 0; i < machine.CPUs; i++ {
		c := &sondeCPUs[i]
		if !sondeMay(c, t) || t.cpus != 0 && c.cur.cpus != 0 {
			continue
		}
		atomic.Xchg((*uint32)(unsafe.Pointer(&c.wanted)), 1) // a barrier
		if machine.Program(i) != 0 {
			sondeKicks |= c.bit
			return
		}
	}
}

// sondeAnswer clears c's wanted, unless one waits that did not yield. Called under sondeLock.
//
//go:nosplit
func sondeAnswer(c *sondeCPU) {
	for t := sondeRunq.head; t != nil; t = t.next {
		if !t.yielded && sondeMay(c, t) {
			return
		}
	}
	atomic.Store((*uint32)(unsafe.Pointer(&c.wanted)), 0)
}

// sondeYieldThread puts t, which runs on c, to the end of the queue, if another waits for c
// or c may not run it. Called under sondeLock.
//
//go:nosplit
func sondeYieldThread(c *sondeCPU, t *sondeThread) {
	may := sondeMay(c, t)
	if may && sondeNext(c) == nil {
		sondeAnswer(c) // another CPU took the one that waited
		return
	}
	t.yielded = may
	sondeEnqueue(t)
	if !sondeWakeIdle(t) && !may {
		sondeWant(t)
	}
}

// SondeBind returns on one of these CPUs, a bit each, and keeps the goroutine on them until
// it waits or yields.
//
// Context: goroutine. It is nosplit because a stack check might yield.
//
//go:nosplit
func SondeBind(cpus uint32) {
	for {
		flags := sondeIRQOff()
		c := sondeCPUSelf()
		c.cur.cpus = cpus
		there := sondeMay(c, c.cur)
		sondeIRQRestore(flags)
		if there {
			return
		}
		osyield()
	}
}
