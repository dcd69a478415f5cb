//go:build tamago

// Package sched tells when every CPU has passed a scheduling point: a grace
// period. At a scheduling point (a switch of goroutines, or idling) a CPU is in
// no probe's copy, detour or handler, because goroutines are never preempted
// there; what was reachable before the period can be reused after it.
//
// Source: spec/4 §1.4.5, synchronize_sched.
package sched

import (
	"runtime"
	"time"
	_ "unsafe"

	"sonde/arch/amd64/trap"
	"sonde/kernel/cpu"
)

//go:linkname runtimeQuiet runtime.sondeQuiet
func runtimeQuiet(i int) uint64

//go:linkname runtimeIdle runtime.sondeIdle
func runtimeIdle(i int) (idle bool, halts uint64, ns int64)

// Idle reports whether CPU i is halted now, how often it has halted, and for how
// long in all.
//
// Context: any.
func Idle(i int) (idle bool, halts uint64, asleep time.Duration) {
	idle, halts, ns := runtimeIdle(i)
	return idle, halts, time.Duration(ns)
}

// A Snapshot is how many scheduling points each CPU had passed at a moment.
type Snapshot [trap.MaxCPUs]uint64

// Now takes a snapshot.
//
// Context: any.
func Now() (s Snapshot) {
	for i := range cpu.Num() {
		s[i] = runtimeQuiet(i)
	}
	return s
}

// Passed reports whether every CPU has passed a scheduling point since s was
// taken, or is idle.
//
// Context: any.
func (s *Snapshot) Passed() bool {
	for i := range cpu.Num() {
		if idle, _, _ := runtimeIdle(i); !idle && runtimeQuiet(i) == s[i] {
			return false
		}
	}
	return true
}

// Synchronize returns when every CPU has passed a scheduling point since the
// call. It stops nobody; a CPU in a loop without calls delays it.
//
// Context: goroutine.
func Synchronize() {
	s := Now()
	for runtime.Gosched(); !s.Passed(); {
		time.Sleep(time.Millisecond)
	}
}
