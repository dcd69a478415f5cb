package runtime

// Programs: what runs in ring 3, where goroutines have no stack checks and take no
// part in the scheduler.
//
// Why it is here: the runtime asks a goroutine to yield by its stack limit, and counts
// on its next stack check. One that is in ring 3 (package arch/amd64/user) has to be
// sent an interrupt as well. It looks at the same things when it enters, after it has
// said that it does; so the order is: store the request, then look who is in ring 3.

import (
	"internal/runtime/atomic"
	machine "runtime/goos"
	"unsafe"
)

// SondeWanted returns the address of CPU i's wanted, for the way into ring 3.
func SondeWanted(i int) *int32 { return &sondeCPUs[i].wanted }

// sondeInterrupted counts, for its barrier: the request before it is seen by all
// before what comes after it is read.
var sondeInterrupted atomic.Int32

// sondeInterrupt gets mp out of ring 3, to see that its goroutine is to yield. In the
// kernel a thread of a program is interrupted, too: it may be in a probe's handler, which
// is ended if it never yields.
//
//go:nosplit
//go:nowritebarrierrec
func sondeInterrupt(mp *m) {
	sondeInterrupted.Add(1)
	for i := 0; i < machine.CPUs; i++ {
		if sondeCPUs[i].cur.mp == uintptr(unsafe.Pointer(mp)) && (machine.Program(i) != 0 || SondeThread(unsafe.Pointer(mp.g0)) != nil) {
			machine.Wake(uint64(i))
		}
	}
}

// sondeMakeWay makes a goroutine in ring 3 yield, for one that came back from a system call
// and has found no P: it is in the global queue, ahead of the one that yields.
//
//go:nowritebarrierrec
func sondeMakeWay() {
	for i := 0; i < machine.CPUs; i++ {
		if machine.Program(i) == 0 {
			continue
		}
		mp := (*m)(unsafe.Pointer(sondeCPUs[i].cur.mp))
		if mp != nil && mp.p != 0 && preemptone(mp.p.ptr()) {
			return
		}
	}
}

// SondeSetTimer makes this CPU take a timer interrupt when the first timer of its P is
// due, since only a switch of goroutines would look at it; and it tells sysmon.
//
// It is assembly, which calls sondeSetAlarm if there is anything to do: each system call comes here.
//
// Context: goroutine, about to enter ring 3.
func SondeSetTimer()

// sondeSetAlarm is nosplit to stay on its P.
//
//go:nosplit
func sondeSetAlarm() {
	next := getg().m.p.ptr().timers.wakeTime()
	if next == 0 {
		return
	}
	flags := sondeIRQOff()
	sondeAcquire()
	c := sondeCPUSelf()
	c.alarm = min(c.alarm, next)
	sondeRelease()
	sondeIRQRestore(flags)
}

// SondeYield is Gosched where that would run something else. Where it would not, it
// takes eight hundred instructions to find that out. Timers need not be looked at: the way to
// ring 3 sees to them.
func SondeYield() {
	alone := runqempty(getg().m.p.ptr()) && sched.runq.empty() && gcBlackenEnabled == 0
	if !alone || sondeCPUSelf().wanted != 0 || sched.gcwaiting.Load() || getg().stackguard0 == stackPreempt {
		Gosched()
	}
}

// SondeGiveWay runs the goroutine that the caller woke last, if it did so on this P; the caller
// continues when that waits or yields.
func SondeGiveWay() {
	if getg().m.p.ptr().runnext != 0 {
		goyield()
	}
}

// sondeTimerDue reports whether a timer of mp's P is due: SondeTick makes the goroutine
// yield then, which is where the timer is looked at.
//
//go:nosplit
func sondeTimerDue(mp *m) bool {
	pp := mp.p.ptr()
	if pp == nil {
		return false
	}
	next := pp.timers.wakeTime()
	return next != 0 && next <= machine.Nanotime()
}

// sondeEntered is set by code that is about to enter ring 3, and sondePrograms by sysmon, if that
// was so since it last looked: on a machine with one CPU none is in ring 3 then.
var (
	sondeEntered  atomic.Uint32
	sondePrograms bool
)

// sondeWatchEvery is how long sysmon sleeps at most, in microseconds, and
// sondeSlice how many nanoseconds a goroutine may run. Goroutines that are ready on a P
// whose goroutine is in ring 3 wait for both.
func sondeWatchEvery() uint32 {
	if sondePrograms = sondeInRing3() || sondeEntered.Load() != 0; sondePrograms {
		sondeEntered.Store(0)
		return 2 * 1000
	}
	return 10 * 1000
}

func sondeSlice() int64 {
	if sondePrograms {
		return 4e6
	}
	return forcePreemptNS
}

func sondeInRing3() bool {
	for i := 0; i < machine.CPUs; i++ {
		if machine.Program(i) != 0 {
			return true
		}
	}
	return false
}
