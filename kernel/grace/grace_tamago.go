//go:build tamago

// Package grace waits until every CPU has passed a scheduling point: a grace period. At a
// scheduling point (a switch of goroutines, or idling) a CPU is not in a probe's copy,
// detour or handler, because goroutines are never preempted there. So memory that a CPU
// could reach before the period can be reused after it.
//
// An idle CPU may be in an interrupt that came before the period, and in a probe there. So
// it is woken, and it has passed when it has gone through its idle loop once more, which it
// cannot do inside an interrupt.
//
// A CPU in ring 3 has passed as well.
//
// A CPU that runs a goroutine is asked to yield, which happens at the goroutine's next
// stack check; only a loop without calls can delay a period.
//
// Source: kprobes.txt §1.4.5, synchronize_sched.
package grace

import (
	"time"

	"sonde/arch/amd64"
	"sonde/arch/amd64/trap"
	"sonde/kernel/cpu"
	"sonde/kernel/goruntime"
	"sonde/kernel/tape"
)

// Idle reports whether CPU i is halted now, how often it has halted, and for how
// long in all.
//
// Context: any.
func Idle(i int) (idle bool, halts uint64, asleep time.Duration) {
	idle, halts, ns := goruntime.Idle(i)
	return idle, halts, time.Duration(ns)
}

// A Snapshot is how many scheduling points each CPU had passed at a moment.
type Snapshot [trap.MaxCPUs]uint64

// Now takes a snapshot.
//
// Context: any.
func Now() (s Snapshot) {
	for i := range cpu.Num() {
		s[i] = goruntime.Quiet(i)
	}
	return s
}

// Passed reports whether every CPU has passed a scheduling point since s was
// taken. It wakes idle CPUs that have not: they soon will have.
//
// Context: any.
func (s *Snapshot) Passed() bool {
	passed := true
	for i := range cpu.Num() {
		if goruntime.Quiet(i) != s[i] || inRing3(i) {
			continue
		}
		passed = false
		if idle, _, _ := goruntime.Idle(i); idle {
			cpu.SendIPI(i, amd64.VecWake)
		}
	}
	return passed
}

// inRing3 reports whether CPU i runs a program: it is then in no probe of the kernel's,
// unless in an NMI or a hit of the program. One that has ended when it is asked for was over
// after the first look.
func inRing3(i int) bool { return trap.Program(i) != 0 && !trap.InNMI(i) && !trap.InHit(i) }

// passedWithin waits ns for s to pass, without disturbing the other CPUs.
func (s *Snapshot) passedWithin(ns int64) bool {
	end := cpu.Nanotime() + ns
	for i := range cpu.Num() {
		for goruntime.Quiet(i) == s[i] && !inRing3(i) {
			if cpu.Nanotime() > end {
				return false
			}
			cpu.Pause()
		}
	}
	return true
}

// Synchronize returns when every CPU has passed a scheduling point since the
// call, and how long that took. Snapshots from before the call have passed then. It
// stops no CPU; one in a loop without calls delays it.
func Synchronize() (took time.Duration) {
	cpu.Forbid("waits for a grace period")
	start := cpu.Nanotime()
	goruntime.Pass()
	s := Now()
	s[cpu.ID()]-- // to be here is to be at a scheduling point
	w := watched{on: tape.On()}
	w.note(tape.GraceBegins, cpu.ID(), 0)
	const spin, most = 100e3, time.Millisecond
	for nap := most / 16; !s.Passed(); nap = min(2*nap, most) {
		w.look(&s)
		goruntime.YieldAll()
		if s.passedWithin(spin) {
			break
		}
		time.Sleep(nap)
	}
	w.look(&s)
	w.note(tape.GraceOver, cpu.ID(), 0)
	return time.Duration(cpu.Nanotime() - start)
}

// watched notes for those who watch how code is changed when each CPU is seen to have passed.
type watched struct {
	on   bool
	seen [trap.MaxCPUs]bool
}

func (w *watched) note(what tape.What, id int, a uint64) {
	if w.on {
		tape.Note(cpu.Rdtsc(), id, what, a, 0)
	}
}

func (w *watched) look(s *Snapshot) {
	if !w.on {
		return
	}
	for i := range cpu.Num() {
		idle, _, _ := goruntime.Idle(i)
		how := uint64(tape.BySwitch)
		switch {
		case w.seen[i]:
			continue
		case goruntime.Quiet(i) != s[i] && idle:
			how = tape.ByIdling
		case goruntime.Quiet(i) != s[i]:
		case inRing3(i):
			how = tape.InProgram
		default:
			continue
		}
		w.seen[i] = true
		w.note(tape.Passed, i, how)
	}
}
