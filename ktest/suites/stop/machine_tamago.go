//go:build tamago

package stop

import (
	"errors"
	"runtime"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"sonde/arch/amd64"
	"sonde/kernel/cpu"
	"sonde/kernel/grace"
	"sonde/kernel/smp"
	"sonde/ktest/suites"
)

func init() {
	suites.Add("stop/others_stand_still", standStill)
	suites.Add("stop/saved_ip_can_be_moved", moveIP)
	suites.Add("stop/error_of_fn_comes_out", errorOut)
	suites.Add("stop/late_cpu_is_reported", lateCPU)
	suites.Add("stop/storm_of_stops_calls_and_collections", storm)
	suites.Add("stop/stop_machine_latency", stopLatency)
}

// standStill makes every CPU count, and reads the counters twice during a stop.
func standStill(t *suites.T) {
	n := cpu.Num()
	l := newLoad(t, n)
	defer l.stop.Store(true)
	t.Until("all to count", func() bool { return l.moved(make([]uint64, n)) })
	var first, second perCPU
	var missing, own atomic.Int32
	for range 50 {
		took, err := smp.StopMachine(func(held []*amd64.Regs) error {
			self := cpu.ID()
			for i := range held {
				if (held[i] == nil) != (i == self) {
					missing.Add(1)
				}
			}
			for i := range n {
				first[i] = l.counts[i].Load()
			}
			cpu.Delay(300e3)
			for i := range n {
				second[i] = l.counts[i].Load()
			}
			own.Store(int32(self))
			return nil
		})
		t.Must(err)
		if took < 300*time.Microsecond {
			t.Errorf("a stop of 300µs took %v", took)
		}
		if first != second {
			t.Errorf("counters went on from %v to %v", first[:n], second[:n])
		}
		if missing.Load() != 0 {
			t.Errorf("registers are held where they should not be, or missing, on CPU %d", own.Load())
		}
		before := second[:n]
		t.Until("all to count again", func() bool { return l.moved(before) })
	}
}

// moveIP ends a loop that has no exit by changing IP.
func moveIP(t *suites.T) {
	severalCPUs(t)
	defer suites.NoCollection()()
	exit, _, _, _ := addresses()
	for range 100 {
		var entered atomic.Uint32
		t.Go(func() { loopForever(&entered) })
		t.Until("the loop", func() bool { return entered.Load() != 0 })
		var moved atomic.Int32
		_, err := smp.StopMachine(func(held []*amd64.Regs) error {
			for _, r := range held {
				// The loop lies right before loopExit.
				if r != nil && r.IP < uint64(exit) && r.IP >= uint64(exit)-32 {
					r.IP = uint64(exit)
					moved.Add(1)
				}
			}
			return nil
		})
		t.Must(err)
		if moved.Load() != 1 {
			t.Fatalf("%d CPUs are in the loop", moved.Load())
		}
		t.Wait()
	}
}

var errOut = errors.New("no")

func errorOut(t *suites.T) {
	var calls atomic.Int32
	took, err := smp.StopMachine(func([]*amd64.Regs) error { calls.Add(1); return errOut })
	if err != errOut || took <= 0 || calls.Load() != 1 {
		t.Errorf("%d calls, %v, took %v", calls.Load(), err, took)
	}
	if smp.Stopped() {
		t.Errorf("the machine counts as stopped afterwards")
	}
}

// lateCPU keeps interrupts off on one CPU for longer than a stop waits. A collection used to come in
// between, and the machine stood still.
func lateCPU(t *suites.T) {
	severalCPUs(t)
	defer suites.NoCollection()()
	defer smp.StopLimit(smp.StopLimit(200 * time.Millisecond))
	for range 3 {
		var entered, leave atomic.Uint32
		var on atomic.Int32
		t.Go(func() { deaf(&entered, &leave) })
		t.Until("the CPU to be deaf", func() bool { return entered.Load() != 0 })
		start := time.Now()
		_, err := smp.StopMachine(func([]*amd64.Regs) error { on.Add(1); return nil })
		took := time.Since(start)
		leave.Store(1)
		t.Wait()
		var late *smp.LateError
		if !errors.Is(err, syscall.ETIMEDOUT) || !errors.As(err, &late) {
			t.Fatalf("got %v", err)
		}
		if s := err.Error(); !strings.Contains(s, "after 200ms, CPU ") || strings.Contains(s, syscall.ETIMEDOUT.Error()) {
			t.Errorf("it says %q", s)
		}
		if on.Load() != 0 {
			t.Errorf("fn has run")
		}
		if took < 200*time.Millisecond || took > suites.Limit {
			t.Errorf("it took %v", took)
		}
		if c := late.CPUs[0]; len(late.CPUs) == 1 && (!c.Known || !strings.HasPrefix(nameAt(c.Regs.IP), pkg+"deaf") || c.Regs.Flags&amd64.RFLAGS_IF != 0) {
			t.Errorf("its registers are %+v", c)
		}
		smp.StopLimit(5 * time.Second)
		well(t)
		smp.StopLimit(200 * time.Millisecond)
	}
}

// storm makes goroutines stop, call, collect and wait for grace periods at once.
func storm(t *suites.T) {
	rounds, rest := int64(suites.Rounds(80, 200)), int64(suites.Rounds(8, 20))
	defer debug.SetGCPercent(debug.SetGCPercent(5))
	var stops, calls, collections, periods atomic.Int64
	want := [...]struct {
		n     *atomic.Int64
		least int64
	}{{&stops, rounds}, {&calls, rounds}, {&collections, rest}, {&periods, rest}}
	over := func() bool {
		for _, w := range want {
			if w.n.Load() < w.least {
				return false
			}
		}
		return true
	}
	worker := func(f func()) {
		t.Go(func() {
			for end := time.Now().Add(suites.Limit); !over() && time.Now().Before(end); {
				f()
			}
		})
	}
	var inStop, inCall atomic.Int64
	for range 2 {
		worker(func() {
			_, err := smp.StopMachine(func([]*amd64.Regs) error { inStop.Add(1); return nil })
			t.Must(err)
			stops.Add(1)
		})
		worker(func() { smp.CallAll(func() { inCall.Add(1) }); calls.Add(1) })
		worker(func() { sink.Store(grow(6)) })
	}
	worker(func() { runtime.GC(); collections.Add(1) })
	worker(func() { grace.Synchronize(); periods.Add(1) })
	t.Wait()
	t.Logf("%d stops, %d calls, %d collections, %d grace periods", stops.Load(), calls.Load(), collections.Load(), periods.Load())
	if !over() {
		t.Errorf("that is not enough in %v", suites.Limit)
	}
	if inStop.Load() != stops.Load() || inCall.Load() != calls.Load()*int64(cpu.Num()) {
		t.Errorf("fn ran %d times, what was called %d times", inStop.Load(), inCall.Load())
	}
	well(t)
}

// tree is work for the allocator.
type tree struct{ left, right *tree }

var sink atomic.Pointer[tree]

func grow(depth int) *tree {
	if depth == 0 {
		return &tree{}
	}
	return &tree{grow(depth - 1), grow(depth - 1)}
}

func stopLatency(t *suites.T) {
	idle := func() time.Duration { time.Sleep(2 * time.Millisecond); return stopIt(t) }
	logTimes(t, "stop machine, others idle", times(suites.Rounds(101, 101), idle))
	l := newLoad(t, cpu.Num()-1)
	logTimes(t, "stop machine, others busy", times(suites.Rounds(101, 101), func() time.Duration { return stopIt(t) }))
	l.stop.Store(true)
}
