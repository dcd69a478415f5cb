package proc

import "sync/atomic"

// account is what a thread has used apart from time, which its CPU counts. The thread
// writes it, others read it.
type account struct {
	faults, sleeps atomic.Int64
}

// Usage returns what t has used.
func (t *Thread) Usage() Usage {
	user, system := t.cpu.Used()
	return Usage{User: user, System: system, Faults: t.charge.faults.Load(), Sleeps: t.charge.sleeps.Load()}
}
