package proc

import "time"

// usualSlack is the slack of threads whose makers have asked for no other.
const usualSlack = uint64(50 * time.Microsecond)

// Slack returns by how much a wait of t may be longer than was asked for. One that something
// else can end before takes all of it: who wakes those that wait for a few microseconds finds
// them there. A sleep, which nothing is gained by making longer, takes none.
//
// Source: Linux, prctl(2), PR_SET_TIMERSLACK.
func (t *Thread) Slack() time.Duration { return time.Duration(min(t.slack.Load(), 1<<63-1)) }

// RawSlack returns it in nanoseconds as it was set: any number.
func (t *Thread) RawSlack() uint64 { return t.slack.Load() }

// SetSlack changes it for the waits that t begins from now on. 0 means the one with which t began.
func (t *Thread) SetSlack(ns uint64) {
	if ns == 0 {
		ns = t.firstSlack
	}
	t.slack.Store(ns)
}

// beginSlack sets the one with which t begins. Context: nobody else knows t.
func (t *Thread) beginSlack(ns uint64) {
	t.firstSlack = ns
	t.slack.Store(ns)
}

// Longer returns how long a wait takes that is to take d: with t's slack. 0 and what is
// negative mean not at all and for ever, and stay.
func (t *Thread) Longer(d time.Duration) time.Duration {
	if d <= 0 {
		return d
	}
	return d + min(t.Slack(), 1<<63-1-d)
}

// Later returns when a wait ends that is to end at end: after t's slack. Zero means never, and
// stays.
func (t *Thread) Later(end time.Time) time.Time {
	if end.IsZero() {
		return end
	}
	return end.Add(t.Slack())
}

// FirstThread returns the thread that a process began with; nil once it has ended.
func (p *Process) FirstThread() *Thread {
	p.table.mu.Lock()
	defer p.table.mu.Unlock()
	if len(p.threads) == 0 {
		return nil
	}
	return p.threads[0]
}
