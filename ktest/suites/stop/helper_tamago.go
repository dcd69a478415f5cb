//go:build tamago

// Package stop tests what changing code relies on: grace periods, stopping the machine, and
// writing several bytes of code at once.
package stop

import (
	"runtime"
	"slices"
	"sync/atomic"
	"time"

	"sonde/arch/amd64"
	"sonde/arch/amd64/trap"
	"sonde/kallsyms"
	"sonde/kernel/cpu"
	"sonde/kernel/grace"
	"sonde/kernel/smp"
	"sonde/ktest/suites"
)

// loopForever sets *entered and never ends by itself, nor can it be preempted.
func loopForever(entered *atomic.Uint32)

// deaf sets *entered and keeps interrupts off until *leave is not 0.
func deaf(entered, leave *atomic.Uint32)

// answer returns 1.
func answer() uint64

func addresses() (exit, answer, other, sled uintptr)

// nothing is a fn that does nothing.
func nothing([]*amd64.Regs) error { return nil }

// A load keeps CPUs busy: each goroutine counts, with a stack check per step.
type load struct {
	stop   atomic.Bool
	counts []atomic.Uint64
}

func newLoad(t *suites.T, n int) *load {
	l := &load{counts: make([]atomic.Uint64, n)}
	for i := range l.counts {
		t.Go(func() {
			for !l.stop.Load() {
				count(&l.counts[i])
			}
		})
	}
	return l
}

//go:noinline
func count(c *atomic.Uint64) {
	if c.Add(1) == 0 {
		println("overflow") // a call, so that there is a stack check
	}
}

// moved reports whether every counter has changed since before.
func (l *load) moved(before []uint64) bool {
	for i := range l.counts {
		if l.counts[i].Load() == before[i] {
			return false
		}
	}
	return true
}

// read returns the counters.
func (l *load) read() (now []uint64) {
	for i := range l.counts {
		now = append(now, l.counts[i].Load())
	}
	return now
}

// times calls f n times and returns the durations that f returned, sorted.
func times(n int, f func() time.Duration) (took []time.Duration) {
	for range n {
		took = append(took, f())
	}
	slices.Sort(took)
	return took
}

func logTimes(t *suites.T, what string, took []time.Duration) {
	t.Logf("%s: shortest %v, median %v, longest %v", what, took[0], took[len(took)/2], took[len(took)-1])
}

// stopIt stops the machine, does nothing, and returns how long that took.
func stopIt(t *suites.T) time.Duration {
	took, err := smp.StopMachine(nothing)
	t.Must(err)
	return took
}

// well checks that CPUs take interrupts, goroutines run and the machine can be stopped.
func well(t *suites.T) {
	var calls atomic.Int32
	smp.CallAll(func() { calls.Add(1) })
	if int(calls.Load()) != cpu.Num() {
		t.Errorf("%d of %d CPUs take a call", calls.Load(), cpu.Num())
	}
	t.Together(func(int) { runtime.Gosched() })
	stopIt(t)
	grace.Synchronize()
}

// nameAt returns the function that ip lies in.
func nameAt(ip uint64) string {
	name, _, _, _ := kallsyms.Lookup(ip)
	return name
}

// severalCPUs skips the case on a machine with one CPU.
func severalCPUs(t *suites.T) {
	if cpu.Num() == 1 {
		t.Skipf("one CPU: there is no other to stop")
	}
}

type perCPU [trap.MaxCPUs]uint64
