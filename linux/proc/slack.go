package proc

import "time"

// usualSlack is the default slack.
const usualSlack = uint64(50 * time.Microsecond)

// Slack returns by how much a wait of t may be longer than requested. A wait that something
// else can end takes all of it: a waker of threads that wait for a few microseconds still
// finds them waiting. A sleep takes none, because nothing is gained by making it longer.
//
// Source: Linux, prctl(2), PR_SET_TIMERSLACK.
func (t *Thread) Slack() time.Duration { return time.Duration(min(t.slack.Load(), 1<<63-1)) }

// RawSlack returns the slack in nanoseconds as it was set: any number.
func (t *Thread) RawSlack() uint64 { return t.slack.Load() }

// SetSlack changes the slack of waits that t begins from now on. 0 means the one with which
// t began.
func (t *Thread) SetSlack(ns uint64) {
	if ns == 0 {
		ns = t.firstSlack
	}
	t.slack.Store(ns)
}

// beginSlack sets the slack with which t begins. Context: t is not visible yet.
func (t *Thread) beginSlack(ns uint64) {
	t.firstSlack = ns
	t.slack.Store(ns)
}

// Longer returns how long a wait takes that was requested for d: with t's slack. 0 (not at
// all) and negative (for ever) are unchanged.
func (t *Thread) Longer(d time.Duration) time.Duration {
	if d <= 0 {
		return d
	}
	return d + min(t.Slack(), 1<<63-1-d)
}

// Later returns when a wait ends that should end at end: after t's slack. Zero (never) is
// unchanged.
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
