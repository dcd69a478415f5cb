package proc

import (
	"syscall"

	"sonde/kernel/abi"
)

// Bounds of the niceness.
const (
	mostNice  = 19
	leastNice = -20
)

// Nice returns t's niceness, from -20 to 19. It is kept, inherited and shown, but has no
// effect: Go's scheduler treats all goroutines alike.
func (t *Thread) Nice() int { return int(t.nice.Load()) }

// eachOf calls f for the threads that a call like getpriority means: one thread, the
// threads of a process group or those of a user; 0 is the caller itself, its group or
// its user.
//
// Errors: EINVAL for which, ESRCH.
func (t *Thread) eachOf(which, who int, f func(*Thread)) error {
	table, found := t.process.table, false
	table.mu.Lock()
	defer table.mu.Unlock()
	call := func(o *Thread) { found = true; f(o) }
	process := func(p *Process) {
		for _, o := range p.threads {
			call(o)
		}
	}
	switch {
	case which == abi.PRIO_PROCESS && who == 0:
		call(t)
	case which == abi.PRIO_PROCESS:
		if o := table.threads[who]; o != nil {
			call(o)
		}
	case which == abi.PRIO_PGRP:
		g := table.groups[who]
		if who == 0 {
			g = t.process.group
		}
		if g != nil {
			for _, p := range g.members {
				process(p)
			}
		}
	case which == abi.PRIO_USER && who == 0:
		for _, p := range table.procs {
			process(p)
		}
	case which != abi.PRIO_USER:
		return syscall.EINVAL
	}
	if !found {
		return syscall.ESRCH
	}
	return nil
}

// Niceness returns the lowest niceness of the threads selected by which and who, like
// getpriority.
//
// Errors: EINVAL, ESRCH.
func (t *Thread) Niceness(which, who int) (least int, err error) {
	least = mostNice
	err = t.eachOf(which, who, func(o *Thread) { least = min(least, o.Nice()) })
	return least, err
}

// SetNiceness sets the niceness of all threads selected by which and who; values beyond the
// bounds are set to the nearest bound.
//
// Errors: those of Niceness.
func (t *Thread) SetNiceness(which, who, nice int) error {
	nice = max(leastNice, min(nice, mostNice))
	return t.eachOf(which, who, func(o *Thread) { o.nice.Store(int32(nice)) })
}

// IOPrio returns what SetIOPrio has set, like ioprio_get: for one thread its value, for a
// group's or user's threads the best, where an unset value follows from the niceness. It is
// kept, inherited and shown, but has no effect: nothing here waits for a disk.
//
// Errors: those of Niceness.
// Source: Linux, ioprio_set(2).
func (t *Thread) IOPrio(which, who int) (best int, err error) {
	const bestEffort, classShift = 2, 13
	best = 1<<31 - 1
	err = t.eachOf(which, who, func(o *Thread) {
		v := int(o.ioprio.Load())
		if which != abi.PRIO_PROCESS && v>>classShift == 0 {
			v = bestEffort<<classShift | (o.Nice()-leastNice)/5
		}
		best = min(best, v)
	})
	return best, err
}

// SetIOPrio sets it. Errors: those of Niceness.
func (t *Thread) SetIOPrio(which, who, value int) error {
	return t.eachOf(which, who, func(o *Thread) { o.ioprio.Store(int32(value)) })
}
