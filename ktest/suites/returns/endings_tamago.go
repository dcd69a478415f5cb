//go:build tamago

package returns

import (
	"runtime"
	"sync/atomic"

	"sonde/arch/amd64"
	"sonde/kprobes"
	"sonde/ktest/suites"
	"sonde/ktest/suites/targets"
)

func init() {
	suites.Add("returns/panics_through_probed_calls_give_instances_back", panicsThrough)
	suites.Add("returns/goexit_through_probed_calls_gives_instances_back", goexitThrough)
	suites.Add("returns/recovered_call_returns_to_its_handler", recoveredCall)
	suites.Add("returns/parked_call_outlives_its_probe", parkedCall)
	suites.Add("returns/unregistered_under_load", unregisteredUnderLoad)
	suites.Add("returns/disabled_with_calls_in_flight", disabledInFlight)
}

// unwound recurses depth times and then ends in another way than by returning.
//
//go:noinline
func unwound(depth int, end func()) int {
	if depth == 0 {
		end()
		return 1
	}
	return unwound(depth-1, end) + 1
}

const (
	unwoundDepth = 5
	unwoundCalls = unwoundDepth + 1
	unwoundTimes = 100
)

// panicsThrough has just enough instances for one descent: the second would be
// missed if the first left any behind.
func panicsThrough(t *suites.T) {
	rp := on(unwound, nothing)
	rp.MaxActive = unwoundCalls
	remove := register(t, rp)
	for range unwoundTimes {
		func() {
			defer func() {
				if e := recover(); e != "down" {
					t.Errorf("recovered %v", e)
				}
			}()
			unwound(unwoundDepth, func() { panic("down") })
		}()
		suites.Equal(t, "InFlight after recover", rp.Ledger().InFlight, 0)
	}
	suites.Equal(t, "a call that returns", uint64(unwound(unwoundDepth, func() {})), unwoundCalls)
	remove()
	l := rp.Ledger()
	suites.Equal(t, "Entered", l.Entered, (unwoundTimes+1)*unwoundCalls)
	suites.Equal(t, "Abandoned", l.Abandoned, unwoundTimes*unwoundCalls)
	suites.Equal(t, "Handled", l.Handled, unwoundCalls)
	suites.Equal(t, "NMissed", rp.NMissed(), 0)
}

func goexitThrough(t *suites.T) {
	rp := on(unwound, nothing)
	rp.MaxActive = unwoundCalls
	remove := register(t, rp)
	for i := range unwoundTimes {
		done := make(chan bool)
		go func() {
			defer close(done)
			unwound(unwoundDepth, runtime.Goexit)
		}()
		<-done
		// The goroutine's end is after its last deferred call.
		t.Until("the goroutine's end", func() bool { return rp.Ledger().Abandoned == uint64(i+1)*unwoundCalls })
		suites.Equal(t, "InFlight", rp.Ledger().InFlight, 0)
	}
	remove()
	suites.Equal(t, "Handled", rp.Hits(), 0)
	suites.Equal(t, "NMissed", rp.NMissed(), 0)
}

// recoveredCall probes the function that recovers: it does return.
func recoveredCall(t *suites.T) {
	var last uint64
	rp := on(targets.Deferred, func(_ *kprobes.KretprobeInstance, r *amd64.Regs) int {
		last = kprobes.RegsReturnValue(r)
		return 0
	})
	remove := register(t, rp)
	for range 100 {
		v, err := targets.Deferred(nil, 3)
		if v != 77 || err == nil || err.Error() != "recovered" {
			t.Errorf("Deferred returns %d, %v", v, err)
		}
		suites.Equal(t, "what the handler saw", last, 77)
	}
	remove()
	suites.Equal(t, "Handled", rp.Hits(), 100)
	suites.Equal(t, "Abandoned", rp.Ledger().Abandoned, 0)
}

// parkedCall blocks in a probed function for as long as the probe exists; when
// it returns at last, no handler is called.
func parkedCall(t *suites.T) {
	t.SeveralProcessors()
	for range 20 {
		rp := on(during, nothing)
		t.Must(kprobes.RegisterKretprobe(rp))
		parked, release := make(chan bool), make(chan bool)
		var n uint64
		t.Go(func() { n, _ = during(41, func() { parked <- true; <-release }) })
		<-parked
		kprobes.UnregisterKretprobe(rp)
		suites.Equal(t, "InFlight without the probe", rp.Ledger().InFlight, 1)
		runtime.GC() // only the stack refers to the instance now
		release <- true
		t.Wait()
		suites.Equal(t, "result", n, 42)
		suites.Equal(t, "Handled", rp.Hits(), 0)
		suites.Equal(t, "Disarmed", rp.Ledger().Disarmed, 1)
		balanced(t, rp)
	}
}

// unregisteredUnderLoad takes the probe away while calls on all CPUs are
// anywhere between their first instruction and after their last.
func unregisteredUnderLoad(t *suites.T) {
	var stop atomic.Bool
	var calls, hits atomic.Uint64
	for g := range 4 {
		t.Go(func() {
			for i := uint64(g); !stop.Load(); i++ {
				if targets.Count(i) != targets.CountWant(i) {
					t.Fatalf("Count(%d) is wrong", i)
				}
				if calls.Add(1)%64 == 0 {
					runtime.Gosched()
				}
			}
		})
	}
	for range suites.Rounds(100, 100) {
		rp := on(targets.Count, nothing)
		remove := register(t, rp)
		before := calls.Load()
		t.Until("calls", func() bool { return calls.Load() > before+10 })
		remove()
		hits.Add(rp.Hits())
	}
	stop.Store(true)
	t.Wait()
	if hits.Load() == 0 {
		t.Errorf("no hits in %d calls", calls.Load())
	}
}

// disabledInFlight disables the probe during a call. Its entry handler has returned
// 0, so the return handler is called; the entry handler of the next call is not.
// With a handler that changes SSE registers the return goes another way.
func disabledInFlight(t *suites.T) {
	spoil := func(ri *kprobes.KretprobeInstance, _ *amd64.Regs) int {
		v, w, _, _, _ := floats(float64(ri.Task))
		return int(v + w)
	}
	for _, handler := range []kprobes.KretprobeHandler{nothing, spoil} {
		var entries uint64
		rp := on(during, handler)
		rp.EntryHandler = func(*kprobes.KretprobeInstance, *amd64.Regs) int { entries++; return 0 }
		remove := register(t, rp)
		n, _ := during(1, func() { t.Must(kprobes.DisableKretprobe(rp)) })
		suites.Equal(t, "result", n, 2)
		suites.Equal(t, "handled although disabled meanwhile", rp.Hits(), 1)
		during(1, func() { t.Must(kprobes.EnableKretprobe(rp)) })
		suites.Equal(t, "entry handlers called", entries, 1)
		suites.Equal(t, "handled for a call entered while disabled", rp.Hits(), 1)
		during(1, func() {})
		suites.Equal(t, "handled when enabled again", rp.Hits(), 2)
		remove()
		suites.Equal(t, "Disarmed", rp.Ledger().Disarmed, 0)
	}
}
