package proc

import "sonde/kernel/lock"

// Policy is the scheduling policy that a thread has set. It is kept, inherited and shown,
// but has no effect: Go's scheduler treats all alike.
type Policy struct {
	Kind     int32 // SCHED_OTHER and so on
	Priority int32 // of those of real time
	Reset    bool  // its children begin with the usual policy

	Runtime, Deadline, Period uint64 // of SchedDeadline, in nanoseconds
}

// The policies of real time, and the usual ones.
//
// Source: Linux, uapi/linux/sched.h.
const (
	SchedOther    = 0
	SchedFIFO     = 1
	SchedRR       = 2
	SchedBatch    = 3
	SchedDeadline = 6
)

// Policy returns what was set last; SCHED_OTHER at first.
func (t *Thread) Policy() Policy {
	if p := t.policy.Load(); p != nil {
		return *p
	}
	return Policy{}
}

// SetPolicy sets the policy.
func (t *Thread) SetPolicy(p Policy) { t.policy.Store(&p) }

// LastPolicy returns that of the first thread of p when that has ended.
func (p *Process) LastPolicy() Policy { return lock.Get(&p.table.mu, &p.policy) }

// inherited is the policy of a new thread that one with p makes.
func (p Policy) inherited() Policy {
	if !p.Reset {
		return p
	}
	if p.Kind == SchedFIFO || p.Kind == SchedRR || p.Kind == SchedDeadline {
		return Policy{}
	}
	return Policy{Kind: p.Kind}
}
