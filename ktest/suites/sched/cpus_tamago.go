//go:build tamago

// Package sched tests that Go's scheduler, timers and garbage collector work on
// the thread shim as on an operating system.
package sched

import (
	"runtime"
	"slices"
	"sync/atomic"
	"time"

	"sonde/arch/amd64/trap"
	"sonde/kernel/cpu"
	"sonde/kernel/grace"
	"sonde/ktest/suites"
)

func init() {
	suites.Add("sched/all_cpus_run_goroutines_at_once", allCPUsAtOnce)
	suites.Add("sched/busy_goroutine_does_not_starve_others", busyDoesNotStarve)
	suites.Add("sched/busy_goroutines_share", busyGoroutinesShare)
	suites.Add("sched/gosched_is_fair", goschedIsFair)
	suites.Add("sched/idle_cpus_halt", idleCPUsHalt)
	suites.Add("sched/synchronize_waits_for_running_code", synchronizeWaits)
}

func allCPUsAtOnce(t *suites.T) {
	if n := runtime.GOMAXPROCS(0); n != cpu.Num() {
		t.Errorf("GOMAXPROCS is %d on %d CPUs", n, cpu.Num())
	}
	for range 20 {
		var on [trap.MaxCPUs]atomic.Int32
		t.Together(func(int) { on[cpu.ID()].Add(1) })
		if t.Failed() {
			return
		}
	}
}

// busy keeps a CPU until stop. It calls a function: a loop without any cannot
// be made to yield.
func busy(stop *atomic.Bool) (n uint64) {
	for !stop.Load() {
		n = step(n)
	}
	return n
}

//go:noinline
func step(n uint64) uint64 {
	if n == 1<<63 {
		println(n) // a call, so that there is a stack check
	}
	return n + 1
}

// busyDoesNotStarve keeps all CPUs busy; another goroutine must still make progress.
func busyDoesNotStarve(t *suites.T) {
	var stop atomic.Bool
	for range cpu.Num() {
		t.Go(func() { busy(&stop) })
	}
	start := time.Now()
	c := make(chan int)
	go func() {
		for i := range 20 {
			c <- i
		}
		close(c)
	}()
	for range c {
	}
	time.Sleep(time.Millisecond)
	if d := time.Since(start); d > suites.Limit {
		t.Errorf("20 messages and a millisecond took %v", d)
	}
	stop.Store(true)
	t.Wait()
}

// busyGoroutinesShare runs three busy goroutines per CPU until each has had a
// share; the runtime decides how large it is.
func busyGoroutinesShare(t *suites.T) {
	var stop atomic.Bool
	counts := make([]atomic.Uint64, 3*cpu.Num())
	for i := range counts {
		t.Go(func() {
			for n := uint64(0); !stop.Load(); n = step(n) {
				counts[i].Store(n)
			}
		})
	}
	defer stop.Store(true)
	t.Until("every busy goroutine to run", func() bool {
		for i := range counts {
			if counts[i].Load() < 10_000 {
				return false
			}
		}
		return true
	})
}

// goschedIsFair makes goroutines yield to each other: none gets far ahead while another waits. It
// tries again where the host did not run one of the CPUs.
func goschedIsFair(t *suites.T) {
	var counts []int
	t.Until("no goroutine to yield a hundred times as often as another", func() bool {
		counts = make([]int, 4*cpu.Num())
		end := time.Now().Add(time.Second)
		for i := range counts {
			t.Go(func() {
				for time.Now().Before(end) {
					counts[i]++
					runtime.Gosched()
				}
			})
		}
		t.Wait()
		return slices.Min(counts) > slices.Max(counts)/100
	})
	t.Logf("%d to %d times", slices.Min(counts), slices.Max(counts))
}

// idleCPUsHalt: with nothing to do, CPUs sleep rather than spin. A CPU that the host does not run
// while it has something to do counts as awake; then it tries again.
func idleCPUsHalt(t *suites.T) {
	const pause = 300 * time.Millisecond
	idle := func() (all time.Duration) {
		for i := range cpu.Num() {
			_, _, ns := grace.Idle(i)
			all += ns
		}
		return all
	}
	var slept time.Duration
	t.Until("all CPUs together to sleep half of the time", func() bool {
		before := idle()
		time.Sleep(pause)
		slept = idle() - before
		return slept >= pause*time.Duration(cpu.Num())/2
	})
	t.Logf("of %v, %d CPUs slept %v", pause, cpu.Num(), slept)
}

// synchronizeWaits: a grace period cannot end while a goroutine that was
// running when it began has not been through the scheduler.
func synchronizeWaits(t *suites.T) {
	if cpu.Num() == 1 {
		t.Skipf("one CPU: what asks for the grace period is what runs")
	}
	var inside atomic.Bool
	t.Go(func() {
		inside.Store(true)
		// The scheduler cannot stop this loop, so it must end by itself.
		for end := cpu.Nanotime() + 100e6; cpu.Nanotime() < end; {
		}
		inside.Store(false)
	})
	t.Until("the other goroutine", inside.Load)
	grace.Synchronize()
	early := inside.Load()
	t.Wait()
	if early {
		t.Errorf("the grace period ended while a CPU had not left its code")
	}
	for range 20 {
		grace.Synchronize()
	}
}
