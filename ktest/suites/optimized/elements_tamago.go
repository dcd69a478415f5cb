//go:build tamago

package optimized

import (
	"runtime"
	"runtime/debug"
	"sync/atomic"
	"time"

	"sonde/arch/amd64"
	"sonde/arch/amd64/trap"
	"sonde/kernel/cpu"
	"sonde/kernel/notifier"
	"sonde/kernel/smp"
	"sonde/ktest/suites"
	"sonde/ktest/suites/targets"
)

// What makes a storm harder, one by one and all together. The ledgers must have no gaps after each.
func init() {
	all := "switching timers stacks collector nmis"
	suites.Add("optimized/storm_all_at_once", func(t *suites.T) { storm(t, suites.Storm(2), all) })
	for _, with := range []string{"switching", "timers", "stacks", "collector", "nmis"} {
		suites.Add("optimized/storm_"+with+"_for_half_a_minute", func(t *suites.T) {
			t.NeedsLong()
			storm(t, 30*time.Second, with)
		})
	}
	suites.Add("optimized/storm_all_for_a_minute", func(t *suites.T) {
		t.NeedsLong()
		storm(t, time.Minute, all)
	})
}

// An element runs until the end of its storm.
type element struct {
	name string
	run  func(w *stress)
}

var elements = []element{{"timers", (*stress).timers}, {"stacks", (*stress).stacks}, {"collector", (*stress).collect}, {"nmis", (*stress).nmis}}

// on reports whether the storm continues.
func (w *stress) on() bool { return time.Now().Before(w.end) && !w.t.Failed() }

// until reports whether an element continues: as long as the storm, and on a busy host until
// enough has happened.
func (w *stress) until(enough func() bool) bool {
	return w.on() || !enough() && time.Now().Before(w.end.Add(suites.Limit/2)) && !w.t.Failed()
}

// enoughTimers and enoughNMIs are how many interrupts satisfy an element on a busy host.
const enoughTimers, enoughNMIs = 6000, 100

// timerPeriod is as often as a timer can be: the way through the host takes longer.
const timerPeriod = 5 * time.Microsecond

// timers makes each CPU take timer interrupts as fast as they come.
func (w *stress) timers() {
	count := func() (n uint64) {
		for id := range cpu.Num() {
			n += trap.Count(id, amd64.VecTimer)
		}
		return n
	}
	before := count()
	stop := smp.TickEvery(int64(timerPeriod))
	for w.until(func() bool { return count()-before >= enoughTimers }) {
		time.Sleep(10 * time.Millisecond)
	}
	stop()
	n := count() - before
	w.t.Logf("count: storms/timer-interrupts %d", n)
	if n < enoughTimers {
		w.t.Errorf("%d timer interrupts", n)
	}
}

// stacks makes new stacks grow. The callers' are new each time, too (stress.small).
func (w *stress) stacks() {
	grown := 0
	for ; w.on(); grown++ {
		done := make(chan bool)
		w.t.Go(func() {
			defer close(done)
			depth := uint64(20 + grown%180)
			suites.Equal(w.t, "deepen", deepen(depth), depth*(depth+1)/2)
		})
		<-done
	}
	w.t.Logf("count: storms/stacks-grown %d", grown)
}

// deepen takes some of the stack, n times.
//
//go:noinline
func deepen(n uint64) uint64 {
	var pad [48]uint64
	if pad[n%48] = n; n == 0 {
		return 0
	}
	return deepen(n-1) + pad[n%48]
}

// collect collects garbage all the time.
func (w *stress) collect() {
	defer debug.SetGCPercent(debug.SetGCPercent(1))
	rounds := 0
	for ; w.on(); rounds++ {
		runtime.GC()
		runtime.Gosched()
	}
	w.t.Logf("count: storms/collections %d", rounds)
}

// nmis sends one to each CPU in turn. In each a probed function is called: one without a witness,
// since calls in an NMI may be within handlers or not. NMIs of others come as well, so all are
// passed on, and those that belong to no one are taken at the end. One that comes while the machine is
// stopped is lost.
func (w *stress) nmis() {
	var came, wrong atomic.Uint64
	end := suites.OnNMI(func(*amd64.Regs) notifier.Action {
		if targets.Leaf(7, 5) != 26 {
			wrong.Add(1)
		}
		came.Add(1)
		return notifier.Next
	})
	endLast := suites.LastOnNMI(func(*amd64.Regs) notifier.Action { return notifier.Stop })
	sent := uint64(0)
	for ; w.until(func() bool { return came.Load() >= enoughNMIs }); sent++ {
		before := came.Load()
		cpu.SendNMI(int(sent) % cpu.Num())
		for limit := cpu.Nanotime() + int64(time.Millisecond); came.Load() == before && cpu.Nanotime() < limit; {
			runtime.Gosched()
		}
	}
	end()
	endLast()
	w.t.Logf("count: storms/nmis %d", came.Load())
	if wrong.Load() != 0 || came.Load() < enoughNMIs {
		w.t.Errorf("%d NMIs sent, %d came; %d wrong results", sent, came.Load(), wrong.Load())
	}
}
