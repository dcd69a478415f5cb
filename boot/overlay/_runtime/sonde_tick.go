package runtime

// The timer of the shim (sonde_shim.go): when sleeps end, and when a goroutine has to make way.
//
// Why it is here: as sonde_shim.go. All of it is called with interrupts off and is nosplit.

import (
	machine "runtime/goos"
	"unsafe"
)

// sondeExpire readies every thread whose sleep is over and sets c's timer to
// the next end of a sleep.
//
//go:nosplit
func sondeExpire(c *sondeCPU) {
	now, next := machine.Nanotime(), int64(sondeForever)
	for t := sondeSleepers; t != nil; {
		over := t
		t = t.later
		if over.wakeAt > now {
			next = min(next, over.wakeAt)
			continue
		}
		ret := uintptr(0)
		if over.key != 0 && over.key != sondeEventKey() {
			ret = sondeErr(_ETIMEDOUT)
		}
		sondeReady(over, ret)
	}
	const slice = 10e6 // while threads wait for a CPU, look again this soon
	if sondeRunq.head != nil {
		next = min(next, now+slice)
		for t := sondeRunq.head; t != nil; t = t.next {
			sondeMark(t) // whoever was on the way
		}
	}
	if sondePeriod != 0 {
		next = min(next, now+sondePeriod)
	}
	c.alarm, c.armed = next, 0 // it may have interrupted: set it in any case
}

// sondePeriod is the longest this CPU may go without a timer interrupt, 0 for
// no limit. guarded by sondeLock
var sondePeriod int64

// SondeTickEvery sets sondePeriod and applies it to this CPU.
//
// Context: interrupts off.
//
//go:nosplit
func SondeTickEvery(ns int64) {
	sondeAcquire()
	sondePeriod = ns
	sondeExpire(sondeCPUSelf())
	sondeRelease()
}

// SondeTick is the timer interrupt: it ends sleeps and, if a thread must wait for a CPU or a timer
// of the runtime is due, asks the interrupted goroutine to yield. It returns by how many nanoseconds
// the interrupt was late.
//
// Context: interrupt.
//
//go:nosplit
//go:nowritebarrierrec
func SondeTick() (late int64) {
	c := sondeCPUSelf()
	if c.alarm != sondeForever {
		late = machine.Nanotime() - c.alarm
	}
	sondeAcquire()
	sondeExpire(c)
	t := c.cur
	wait := sondeNext(c) != nil
	sondeRelease()
	if mp := (*m)(unsafe.Pointer(t.mp)); mp != nil && mp.curg != nil && (wait || sondeTimerDue(mp)) {
		mp.curg.preempt = true
		mp.curg.stackguard0 = stackPreempt
	}
	return late
}
