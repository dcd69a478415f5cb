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

// Nice returns how little t asks for, from -20 to 19. It is kept, inherited and shown; who
// runs when is up to Go's scheduler, to which all are equal.
func (t *Thread) Nice() int { return int(t.nice.Load()) }

// eachOf calls f for the threads that a call like getpriority means: one thread, the
// threads of a process group or those of a user; 0 is the caller itself, its group or
// its user. mu held.
//
// Errors: EINVAL for which, ESRCH.
func (t *Thread) eachOf(which, who int, f func(*Thread)) error {
	table, found := t.process.table, false
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

// Niceness returns the least one of the threads that which and who mean, as getpriority does.
//
// Errors: EINVAL, ESRCH.
func (t *Thread) Niceness(which, who int) (least int, err error) {
	t.process.table.mu.Lock()
	defer t.process.table.mu.Unlock()
	least = mostNice
	err = t.eachOf(which, who, func(o *Thread) { least = min(least, o.Nice()) })
	return least, err
}

// SetNiceness sets that of all threads which which and who mean; beyond the bounds, to the
// nearest that there is.
//
// Errors: as Niceness.
func (t *Thread) SetNiceness(which, who, nice int) error {
	t.process.table.mu.Lock()
	defer t.process.table.mu.Unlock()
	nice = max(leastNice, min(nice, mostNice))
	return t.eachOf(which, who, func(o *Thread) { o.nice.Store(int32(nice)) })
}

// IOPrio returns what SetIOPrio has set, as ioprio_get has it: of one thread the very
// value, of a group's or user's threads the best, for which the niceness counts where none was
// set. Nothing here waits for a disk; it is kept, inherited and told.
//
// Errors: as Niceness.
// Source: Linux, ioprio_set(2).
func (t *Thread) IOPrio(which, who int) (best int, err error) {
	const bestEffort, classShift = 2, 13
	t.process.table.mu.Lock()
	defer t.process.table.mu.Unlock()
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

// SetIOPrio sets it. Errors: as Niceness.
func (t *Thread) SetIOPrio(which, who, value int) error {
	t.process.table.mu.Lock()
	defer t.process.table.mu.Unlock()
	return t.eachOf(which, who, func(o *Thread) { o.ioprio.Store(int32(value)) })
}
