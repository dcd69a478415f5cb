package run

import (
	"slices"
	"time"

	"sonde/trace/lang"
)

// The records are looked at each period; each restPeriod when there was none for quietFor, or when only what
// happens at times makes any.
const (
	period     = 10 * time.Millisecond
	restPeriod = 100 * time.Millisecond
	quietFor   = time.Second
	// lateFor is how many periods an interval may be late before the looks become rare.
	lateFor = 3
)

// A pace is how often the records are looked at: it is what a script costs that waits.
type pace struct {
	hits  bool          // make records, not only intervals
	every time.Duration // the only interval; 0: there is none, or there are several
	quiet time.Duration // since the last record
	looks int           // since then
}

// paceOf is that of a script with these intervals.
func paceOf(u *lang.Unit, intervals []time.Duration) pace {
	var every time.Duration
	if len(intervals) == 1 {
		every = intervals[0]
	}
	hits := slices.ContainsFunc(u.Actions, func(a *lang.Action) bool { return !once(a.Point) && a.Point.Provider != "interval" })
	return pace{hits: hits, every: every}
}

// next is how long to wait for the next look, after one that has found something or nothing. Where an interval alone
// makes records, the next look is shortly before it ends, and then there are some until it has.
func (p *pace) next(found bool) time.Duration {
	if found {
		p.quiet, p.looks = 0, 0
	}
	wait := restPeriod
	switch {
	case p.hits && p.quiet < quietFor:
		wait = period
	case p.hits || p.every <= restPeriod:
	case p.looks == 0:
		wait = p.every - period
	case p.looks <= lateFor:
		wait = period
	}
	p.quiet += wait
	p.looks++
	return wait
}
