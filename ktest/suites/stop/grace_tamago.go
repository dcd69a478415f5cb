//go:build tamago

package stop

import (
	"sync/atomic"
	"time"

	"sonde/arch/amd64"
	"sonde/arch/amd64/trap"
	"sonde/kernel/cpu"
	"sonde/kernel/grace"
	"sonde/ktest/suites"
)

func init() {
	suites.Add("stop/grace_period_on_an_idle_machine", graceIdle)
	suites.Add("stop/grace_period_with_busy_cpus", graceBusy)
	suites.Add("stop/grace_period_waits_for_interrupts_of_idle_cpus", graceInterrupt)
	suites.Add("stop/grace_period_waits_for_each_cpu", graceEach)
	suites.Add("stop/calls_come_after_the_period_once", callsAfter)
	suites.Add("stop/calls_during_a_period_wait_for_the_next", callsDuring)
	suites.Add("stop/calls_share_periods", callsShare)
}

func graceIdle(t *suites.T) {
	const most = 20 * time.Millisecond // far more than it needs, on a slow host too
	var took []time.Duration
	t.Until("ten short periods in a row, which a busy host only delays", func() bool {
		took = times(10, func() time.Duration {
			time.Sleep(2 * time.Millisecond)
			return grace.Synchronize()
		})
		return took[9] <= most
	})
	logTimes(t, "grace period, others idle", took)
}

// graceBusy makes every CPU run goroutines that never block.
func graceBusy(t *suites.T) {
	for _, n := range []int{cpu.Num() - 1, 3 * cpu.Num()} {
		l := newLoad(t, n)
		t.Until("all to count", func() bool { return l.moved(make([]uint64, n)) })
		took := times(31, func() time.Duration { return grace.Synchronize() })
		l.stop.Store(true)
		t.Wait()
		t.Logf("%d busy goroutines:", n)
		logTimes(t, "grace period", took)
		if took[30] > suites.Limit {
			t.Errorf("one took %v", took[30])
		}
	}
}

// vecSlow is an interrupt whose handler takes its time.
const vecSlow = 0x91

// graceInterrupt begins a period while an idle CPU is in an interrupt.
func graceInterrupt(t *suites.T) {
	severalCPUs(t)
	var inside, seen, early atomic.Int32
	trap.SetHandler(vecSlow, func(*amd64.Regs) {
		cpu.EOI()
		inside.Store(1)
		for end := cpu.Nanotime() + 5e9; seen.Load() == 0 && cpu.Nanotime() < end; {
			cpu.Pause()
		}
		cpu.Delay(30e6)
		inside.Store(0)
	})
	for range 20 {
		cpu.SendIPI(idleCPU(t), vecSlow)
		t.Until("the handler", func() bool { return inside.Load() != 0 })
		seen.Store(1)
		grace.Synchronize()
		early.Add(inside.Load())
		t.Until("its end", func() bool { return inside.Load() == 0 })
		seen.Store(0)
	}
	if early.Load() != 0 {
		t.Errorf("the period ended %d times while an interrupt was in progress", early.Load())
	}
}

// idleCPU waits until a CPU is idle. It does not yield: that would wake one.
func idleCPU(t *suites.T) int {
	for end := time.Now().Add(suites.Limit); time.Now().Before(end); {
		for i := range cpu.Num() {
			if idle, _, _ := grace.Idle(i); idle {
				return i
			}
		}
	}
	t.Fatalf("there is no idle CPU")
	return 0
}

// graceEach begins a period while one CPU is busy, each CPU in turn.
func graceEach(t *suites.T) {
	severalCPUs(t)
	for id := range cpu.Num() {
		for end := time.Now().Add(suites.Limit); !graceWith(t, id); {
			if time.Now().After(end) {
				t.Fatalf("no goroutine comes to CPU %d", id)
			}
		}
	}
}

// graceWith begins a period while CPU id runs code that the scheduler cannot stop. It reports
// whether a goroutine ran there: the scheduler chooses where.
func graceWith(t *suites.T, id int) (there bool) {
	var came, inside, seen, waiting, early atomic.Int32
	t.Together(func(int) {
		if cpu.ID() == id {
			if came.Add(1) > 1 {
				return // one that comes later may be there when the period ends: it began after it
			}
			inside.Store(1)
			for end := cpu.Nanotime() + 5e9; seen.Load() == 0 && cpu.Nanotime() < end; {
			}
			for end := cpu.Nanotime() + 20e6; cpu.Nanotime() < end; {
			}
			inside.Store(0)
			return
		}
		if waiting.Add(1) != 1 {
			return
		}
		for end := time.Now().Add(20 * time.Millisecond); inside.Load() == 0 && time.Now().Before(end); {
		}
		if there = inside.Load() != 0; there {
			seen.Store(1)
			grace.Synchronize()
			early.Store(inside.Load())
		}
		seen.Store(1)
	})
	if early.Load() != 0 {
		t.Errorf("the period ended while CPU %d was busy", id)
	}
	return there
}

// callsAfter makes a Call while another CPU runs code that the scheduler cannot stop.
func callsAfter(t *suites.T) {
	defer suites.NoCollection()()
	var inside, seen, early, calls atomic.Int32
	const rounds = 10
	for range rounds {
		if cpu.Num() > 1 {
			t.Go(func() {
				inside.Store(1)
				for seen.Load() == 0 {
				}
				for end := cpu.Nanotime() + 20e6; cpu.Nanotime() < end; {
				}
				inside.Store(0)
			})
			t.Until("the other goroutine", func() bool { return inside.Load() != 0 })
			seen.Store(1)
		}
		grace.Call(func() {
			calls.Add(1)
			early.Add(inside.Load())
		})
		grace.Barrier()
		t.Wait()
		seen.Store(0)
	}
	if calls.Load() != rounds || early.Load() != 0 {
		t.Errorf("%d of %d calls, %d of them early", calls.Load(), rounds, early.Load())
	}
}

// busyUntil keeps a CPU busy until leave is set, in a goroutine that the scheduler cannot stop. It
// returns when that goroutine runs.
func busyUntil(t *suites.T, inside, leave *atomic.Int32) {
	t.Go(func() {
		inside.Store(1)
		for leave.Load() == 0 {
		}
		inside.Store(0)
	})
	t.Until("a goroutine to be busy", func() bool { return inside.Load() != 0 })
}

// callsDuring makes a Call during a period. That period does not wait for what began after it, so
// another one must.
func callsDuring(t *suites.T) {
	if cpu.Num() < 3 {
		t.Skipf("needs three CPUs")
	}
	defer suites.NoCollection()()
	var first, second, firstLeaves, secondLeaves, early atomic.Int32
	busyUntil(t, &first, &firstLeaves)
	done := make(chan bool)
	grace.Call(func() { close(done) }) // its period waits for the first
	time.Sleep(5 * time.Millisecond)
	busyUntil(t, &second, &secondLeaves)
	grace.Call(func() { early.Store(second.Load()) })
	firstLeaves.Store(1)
	select {
	case <-done:
	case <-time.After(time.Second): // it began late, and waits for both
	}
	time.Sleep(5 * time.Millisecond)
	secondLeaves.Store(1)
	grace.Barrier()
	t.Wait()
	if early.Load() != 0 {
		t.Errorf("a call that was made during a period did not wait for what had begun then")
	}
}

// callsShare makes more Calls than there is time for periods, and one Call from within another.
func callsShare(t *suites.T) {
	const each = 5000
	var made, nested, wrong atomic.Int32
	start := time.Now()
	t.Together(func(int) {
		var next atomic.Int32
		for i := range int32(each) {
			grace.Call(func() {
				made.Add(1)
				if !next.CompareAndSwap(i, i+1) {
					wrong.Add(1) // out of order, or twice
				}
			})
		}
		grace.Barrier()
		if next.Load() != each {
			t.Errorf("a barrier ended after %d of %d calls", next.Load(), each)
		}
	})
	t.Logf("%d calls in %v", made.Load(), time.Since(start))
	if want := int32(each * cpu.Num()); made.Load() != want || wrong.Load() != 0 {
		t.Errorf("%d calls of %d made, %d out of order", made.Load(), want, wrong.Load())
	}
	grace.Call(func() { grace.Call(func() { nested.Add(1) }) })
	grace.Barrier()
	grace.Barrier()
	if nested.Load() != 1 {
		t.Errorf("a call from within a call was made %d times", nested.Load())
	}
}
