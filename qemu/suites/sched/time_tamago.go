//go:build tamago

package sched

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"sonde/kernel/cpu"
	"sonde/kernel/irq"
	"sonde/qemu/suites"
)

func init() {
	suites.Add("sched/sleep_of_a_millisecond", sleepOfAMillisecond)
	suites.Add("sched/timers_fire_in_order", timersInOrder)
	suites.Add("sched/timers_can_be_stopped", timersCanBeStopped)
	suites.Add("sched/clock_is_monotonic_across_cpus", clockIsMonotonic)
	suites.Add("sched/event_wakes_once", eventWakesOnce)
	suites.Add("sched/event_times_out", eventTimesOut)
}

func sleepOfAMillisecond(t *suites.T) {
	var took []time.Duration
	for range 51 {
		start := time.Now()
		time.Sleep(time.Millisecond)
		took = append(took, time.Since(start))
	}
	slices.Sort(took)
	t.Logf("shortest %v, median %v, longest %v", took[0], took[25], took[50])
	if took[0] < time.Millisecond {
		t.Errorf("one returned after %v", took[0])
	}
	if took[25] > 10*time.Millisecond {
		t.Errorf("half of them take more than %v", took[25])
	}
	if took[45] > 50*time.Millisecond { // a few may meet a pause of the host's
		t.Errorf("one in ten takes more than %v", took[45])
	}
}

func timersInOrder(t *suites.T) {
	const n, apart = 40, 3 * time.Millisecond
	var mu sync.Mutex
	var fired []int
	var wg sync.WaitGroup
	wg.Add(n)
	start := time.Now()
	for k := range n {
		i := k * 17 % n // set in another order than they are due
		time.AfterFunc(time.Until(start.Add(time.Duration(i+5)*apart)), func() {
			mu.Lock()
			fired = append(fired, i)
			mu.Unlock()
			wg.Done()
		})
	}
	wg.Wait()
	// Each runs in a goroutine of its own, so neighbours may change places.
	for at, i := range fired {
		if i < at-8 || i > at+8 {
			t.Errorf("timer %d of %d fired as number %d", i, n, at)
		}
	}
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
