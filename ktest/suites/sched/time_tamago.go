//go:build tamago

package sched

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"sonde/kernel/cpu"
	"sonde/kernel/irq"
	"sonde/ktest/suites"
)

func init() {
	suites.Add("sched/sleep_of_a_millisecond", sleepOfAMillisecond)
	suites.Add("sched/sleeps_shorter_than_a_millisecond", shorterSleeps)
	suites.Add("sched/timers_fire_in_order", timersInOrder)
	suites.Add("sched/timers_can_be_stopped", timersCanBeStopped)
	suites.Add("sched/clock_is_monotonic_across_cpus", clockIsMonotonic)
	suites.Add("sched/event_wakes_once", eventWakesOnce)
	suites.Add("sched/event_times_out", eventTimesOut)
	suites.Add("sched/wait_of_292_years_can_be_woken", waitForAges)
}

// sleepOfAMillisecond sleeps 51 times, and tries again until the sleeps are short enough: while the
// host is busy, they end late.
func sleepOfAMillisecond(t *suites.T) {
	var took []time.Duration
	t.Until("half of 51 sleeps to take 10 ms at most, nine in ten 50 ms", func() bool {
		took = took[:0]
		for range 51 {
			start := time.Now()
			time.Sleep(time.Millisecond)
			took = append(took, time.Since(start))
		}
		slices.Sort(took)
		if took[0] < time.Millisecond {
			t.Fatalf("one returned after %v", took[0])
		}
		return took[25] <= 10*time.Millisecond && took[45] <= 50*time.Millisecond
	})
	t.Logf("shortest %v, median %v, longest %v", took[0], took[25], took[50])
}

// shorterSleeps waits until ten sleeps, one after another, have each taken less than a
// millisecond: an idle CPU's timer is set to when they end, not to milliseconds. A busy host
// only makes this take longer.
func shorterSleeps(t *suites.T) {
	inARow := 0
	t.Until("ten short sleeps in a row", func() bool {
		start := time.Now()
		time.Sleep(100 * time.Microsecond)
		if inARow++; time.Since(start) >= time.Millisecond {
			inARow = 0
		}
		return inARow == 10
	})
}

// timersInOrder sets timers in another order than they are due. None may fire early.
// While the host takes a CPU away, the timers set there are late and those of others
// are not; so they must be in order once, and are further apart each time.
func timersInOrder(t *suites.T) {
	const tries, n, apart = 10, 40, 3 * time.Millisecond
	var order string
	for try := range tries {
		fired := fire(t, n, apart<<try)
		at := slices.IndexFunc(fired, func(x firing) bool { return x.misplaced > 8 })
		if at < 0 {
			t.Logf("in order, %v apart", apart<<try)
			return
		}
		order = fmt.Sprintf("timer %d of %d fired as number %d", fired[at].timer, n, at)
	}
	t.Errorf("%s, and so it was %d times", order, tries)
}

// A firing is which timer fired, and by how many places too soon or too late.
type firing struct{ timer, misplaced int }

// fire sets n timers, and returns them in the order in which they fire. Each runs in a
// goroutine of its own, so neighbours may change places.
func fire(t *suites.T, n int, apart time.Duration) (fired []firing) {
	var mu sync.Mutex
	var wg sync.WaitGroup
	wg.Add(n)
	start := time.Now()
	for k := range n {
		i := k * 17 % n
		due := start.Add(time.Duration(i+5) * apart)
		time.AfterFunc(time.Until(due), func() {
			if early := time.Until(due); early > 0 {
				t.Errorf("timer %d fired %v early", i, early)
			}
			mu.Lock()
			defer mu.Unlock()
			at := len(fired)
			fired = append(fired, firing{i, max(i-at, at-i)})
			wg.Done()
		})
	}
	wg.Wait()
	return fired
}

func timersCanBeStopped(t *suites.T) {
	var fired atomic.Int32
	var timers []*time.Timer
	for i := range 1000 {
		timers = append(timers, time.AfterFunc(time.Hour+time.Duration(i), func() { fired.Add(1) }))
	}
	for i, x := range timers {
		if !x.Stop() {
			t.Errorf("timer %d had fired", i)
		}
	}
	x := time.NewTimer(time.Hour)
	x.Reset(time.Millisecond)
	<-x.C
	if fired.Load() != 0 {
		t.Errorf("%d timers fired an hour early", fired.Load())
	}
}

// clockIsMonotonic makes all CPUs hand a time stamp round: none may see a later
// one than its own.
func clockIsMonotonic(t *suites.T) {
	var latest atomic.Int64
	t.Together(func(int) {
		for range 50_000 {
			before := latest.Load()
			now := cpu.Nanotime()
			if now < before {
				t.Fatalf("the clock of CPU %d is %d ns behind another's", cpu.ID(), before-now)
			}
			latest.CompareAndSwap(before, now)
		}
	})
}

// eventWakesOnce: no wake-up is lost, however it meets the wait, and none
// counts twice.
func eventWakesOnce(t *suites.T) {
	var ping, pong irq.Event
	const rounds = 2000
	t.Go(func() {
		for range rounds {
			if !ping.Wait(int64(suites.Limit)) {
				t.Fatalf("a wake-up was lost")
			}
			pong.Wake()
		}
	})
	for range rounds {
		ping.Wake()
		if !pong.Wait(int64(suites.Limit)) {
			t.Fatalf("a wake-up was lost")
		}
	}
	t.Wait()
	ping.Wake()
	ping.Wake() // not counted
	if !ping.Wait(0) || ping.Wait(int64(time.Millisecond)) {
		t.Errorf("two wakes without a wait between them do not count as one")
	}
}

func eventTimesOut(t *suites.T) {
	var e irq.Event
	start := time.Now()
	if e.Wait(int64(20 * time.Millisecond)) {
		t.Errorf("woken without a wake-up")
	}
	if d := time.Since(start); d < 20*time.Millisecond {
		t.Errorf("gave up after %v", d)
	}
}

// waitForAges: the end of the longest wait does not fit into 64 bits. It used to be taken for a time long
// ago, which also kept the CPU's timer from being set to anything else.
func waitForAges(t *suites.T) {
	var event irq.Event
	t.Go(func() {
		time.Sleep(50 * time.Millisecond)
		event.Wake()
	})
	if !event.Wait(1<<63 - 1) {
		t.Errorf("it timed out")
	}
}
