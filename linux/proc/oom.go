package proc

import (
	"fmt"
	"sync"
	"time"

	"sonde/kernel/abi"
	"sonde/linux/space"
	"sonde/probe/task"
)

// victimTime is how long a chosen process may take to end before another one is chosen.
const victimTime = 5 * time.Second

// oom is the state for ending processes when memory is full.
type oom struct {
	mu sync.Mutex // above Table.mu
	// guarded by mu:
	victim *Process
	since  time.Time
}

// makeRoom ends the process that has most memory, or waits for one that was chosen before,
// and reports whether t may try again. The process that asks for the last page need not be
// the cause, so it is not chosen for that.
//
// Context: t's goroutine, with no lock that a process needs to end.
func (t *Thread) makeRoom() bool {
	v := t.process.table.chooseVictim(t.roomBy)
	t.roomBy = v
	if v == nil {
		t.process.Kill(abi.SIGKILL)
		return false
	}
	late := time.NewTimer(victimTime)
	defer late.Stop()
	for !t.dying() {
		select {
		case <-v.done:
			return true
		case <-late.C:
			return true
		case <-t.kick: // perhaps t must end; signals stay pending
		}
	}
	return false
}

// chooseVictim ends the process that has most memory, with all processes that share its
// memory, and returns it; nil: there is none. While a process chosen before has not ended,
// it returns that one. It also returns one that has ended, unless that is tried, the one
// after which the caller has looked for memory already: what it freed may be enough.
func (t *Table) chooseVictim(tried *Process) *Process {
	t.oom.mu.Lock()
	defer t.oom.mu.Unlock()
	if v := t.oom.victim; v != nil {
		if ended := v.ended(); ended && v != tried || !ended && time.Since(t.oom.since) < victimTime {
			return v
		}
	}
	v, u := t.largest()
	t.oom.victim, t.oom.since = v, time.Now()
	if v == nil {
		return nil
	}
	// Never suppressed: whoever misses a program looks for this line.
	t.Log(fmt.Sprintf("Out of memory: Killed process %d (%s) total-vm:%dkB, rss:%dkB, pgtables:%dkB",
		v.PID, v.Name(), u.Total>>10, u.Resident>>10, u.Tables>>10))
	t.endFor(&task.OOM{Pages: t.Config.Memory.RAM >> 12, Chosen: &v.task}, v)
	return v
}

// endFor ends v, and all processes that share its memory.
//
//go:noinline
func (t *Table) endFor(_ *task.OOM, v *Process) {
	mem := v.Memory()
	for _, p := range t.mortals() {
		if p == v || mem != nil && p.Memory() == mem {
			p.Kill(abi.SIGKILL)
		}
	}
}

func (p *Process) ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// largest returns the process that has most memory, of equal ones the youngest.
func (t *Table) largest() (v *Process, most space.Usage) {
	for _, p := range t.mortals() {
		mem := p.Memory()
		if mem == nil {
			continue
		}
		u := mem.Usage()
		have, than := u.Resident+u.Tables, most.Resident+most.Tables
		if v == nil || have > than || have == than && p.PID > v.PID {
			v, most = p, u
		}
	}
	return v, most
}

// mortals returns the processes that can be ended and do not end already.
func (t *Table) mortals() (all []*Process) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, p := range t.procs {
		if p != t.init && p.state == alive && !p.exiting {
			all = append(all, p)
		}
	}
	return all
}
