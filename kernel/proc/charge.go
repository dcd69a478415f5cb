package proc

import (
	"sync/atomic"
	"time"
)

// account is what a thread has used. The thread writes it, others read it.
type account struct {
	user, system   atomic.Int64 // nanoseconds
	faults, sleeps atomic.Int64
	since          time.Duration // when it last went in or came out
	blocking       bool          // the call may sleep: its time is not the CPU's
}

// enter charges the kernel's time: the program runs now.
func (a *account) enter(now time.Duration) {
	if !a.blocking {
		a.system.Store(a.system.Load() + int64(now-a.since))
	}
	a.blocking = false
	a.since = now
}

// leave charges the program's time.
func (a *account) leave(now time.Duration) {
	a.user.Store(a.user.Load() + int64(now-a.since))
	a.since = now
}

// slept says that the call may sleep. Its own work is not charged then: it is
// short, and the sleep may be long.
func (a *account) slept() {
	a.blocking = true
	a.sleeps.Add(1)
}

// Usage returns what t has used.
func (t *Thread) Usage() Usage {
	a := &t.charge
	return Usage{
		User:   time.Duration(a.user.Load()),
		System: time.Duration(a.system.Load()),
		Faults: a.faults.Load(),
		Sleeps: a.sleeps.Load(),
	}
}
