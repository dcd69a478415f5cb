//go:build tamago

package kprobes

import (
	"runtime"
	"runtime/debug"
	"sync/atomic"
	"time"

	"sonde/arch/amd64"
	"sonde/kernel/cpu"
	"sonde/kprobes"
	"sonde/ktest/suites"
	"sonde/ktest/suites/targets"
)

func init() {
	suites.Add("kprobes/handlers_run_on_all_cpus_at_once", handlersAtOnce)
	suites.Add("kprobes/a_million_hits", millionHits)
	suites.Add("kprobes/growing_stacks_are_not_hits", growingStacks)
	suites.Add("kprobes/registering_while_others_call", registerStorm)
	suites.Add("kprobes/armed_when_registering_returns", armedAtOnce)
}

// handlersAtOnce: handlers of one probe on different CPUs do not wait for each
// other. Each waits a while in its handler for all to be there.
func handlersAtOnce(t *suites.T) {
	if cpu.Num() == 1 {
		t.Skipf("one CPU")
	}
	var inside, most atomic.Int32
	k := on(t, "Leaf", func(*amd64.Regs) {
		inside.Add(1)
		// The collector may have stopped a CPU, so not for ever: less than the
		// limit on handlers.
		for end := cpu.Nanotime() + 50e6; inside.Load() < int32(cpu.Num()) && most.Load() < int32(cpu.Num()) && cpu.Nanotime() < end; {
			cpu.Pause()
		}
		if n := inside.Load(); n > most.Load() {
			most.Store(n)
		}
		inside.Add(-1)
	})
	defer kprobes.UnregisterKprobe(k)
	t.Until("handlers on all CPUs at once", func() bool {
		t.Together(func(int) { targets.Leaf(1, 2) })
		return most.Load() == int32(cpu.Num())
	})
}

// millionHits: every call is a hit, none is lost and none counted twice, whatever else goes on.
func millionHits(t *suites.T) {
	const calls = 1_000_000
	defer debug.SetGCPercent(debug.SetGCPercent(1)) // a collection begins when one ends
	before := collections()
	var sum atomic.Uint64
	k := on(t, "Count", func(*amd64.Regs) { sum.Add(1) })
	const piece = 2500 // by goroutines that are new, so that their stacks grow
	var left atomic.Int64
	left.Store(calls / piece)
	for range 4 * cpu.Num() {
		t.Go(func() {
			for left.Add(-1) >= 0 {
				done := make(chan bool)
				go func() { done <- countTo(piece) }()
				if !<-done {
					t.Errorf("a call of the probed function returned something else")
				}
			}
		})
	}
	t.Wait()
	kprobes.UnregisterKprobe(k)
	expect(t, k, calls, 0)
	if sum.Load() != calls || k.Ledger().Missed() != 0 {
		t.Errorf("%d calls of the handler for %d calls; %+v", sum.Load(), calls, k.Ledger())
	}
	clean(t)
	t.Logf("%d calls, %d collections", calls, collections()-before)
	if collections()-before < 5 {
		t.Errorf("only %d collections meanwhile", collections()-before)
	}
}

// collections returns how often garbage has been collected.
func collections() uint32 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.NumGC
}

// countTo calls Count n times, at different depths of the stack, and reports
// whether each result was right.
func countTo(n int) bool {
	ok := true
	for i := range n {
		switch i % 500 {
		case 100:
			ok = deeper(40, uint64(i)) && ok
		default:
			ok = targets.Count(uint64(i)) == targets.CountWant(uint64(i)) && ok
		}
		if i%16 == 0 {
			garbage = make([]byte, 200)
		}
	}
	return ok
}

var garbage []byte

// deeper calls Count with n frames of 256 bytes between.
//
//go:noinline
func deeper(n int, v uint64) bool {
	var pad [32]uint64
	pad[n%32] = v
	if n == 0 {
		return targets.Count(v) == targets.CountWant(v)
	}
	return deeper(n-1, v) && pad[n%32] == v
}

// growingStacks probes functions whose own entry makes the stack grow: such a
// first try is no call.
func growingStacks(t *suites.T) {
	const goroutines, depth = 60, 200
	defer debug.SetGCPercent(debug.SetGCPercent(1))
	for _, post := range []kprobes.PostHandler{nil, postNothing} {
		grow := arm(t, &kprobes.Kprobe{SymbolName: pkg + "Grow", PostHandler: post})
		large := arm(t, &kprobes.Kprobe{SymbolName: pkg + "Large", PostHandler: post})
		small := arm(t, &kprobes.Kprobe{SymbolName: pkg + "Small", PostHandler: post})
		for range goroutines {
			done := make(chan bool)
			go func() {
				small := targets.Small(7) == 45
				grow := targets.Grow(depth) == depth*(depth+1)/2
				garbage = make([]byte, 10_000)
				done <- targets.Large(7) == 58 && grow && small && smallAtEveryDepth(60)
			}()
			if !<-done {
				t.Errorf("a probed function returned something else")
			}
		}
		kprobes.UnregisterKprobes([]*kprobes.Kprobe{grow, large, small})
		expect(t, grow, goroutines*(depth+1), 0)
		expect(t, large, goroutines, 0)
		expect(t, small, goroutines*(1+61), 0)
	}
	clean(t)
}

// smallAtEveryDepth calls Small from n+1 depths of the stack: at one of them
// its own frame is what does not fit.
//
//go:noinline
func smallAtEveryDepth(n int) bool {
	if n == 0 {
		return targets.Small(7) == 45
	}
	return smallAtEveryDepth(n-1) && targets.Small(7) == 45
}

// registerStorm sets and removes probes on functions that other goroutines call
// all the time: no call may notice.
func registerStorm(t *suites.T) {
	var stop atomic.Bool
	var calls atomic.Uint64
	for range cpu.Num() + 1 {
		t.Go(func() {
			for !stop.Load() {
				for i := range uint64(100) {
					if targets.Small(i) != 6*i+3 || targets.Switch(i%9) != 11*(i%9)+10 {
						t.Fatalf("Small(%d) or Switch(%d) is wrong", i, i%9)
					}
				}
				calls.Add(100)
			}
		})
	}
	var hits uint64
	for round := range suites.Rounds(12, 25) { // each set of probes is in one of 12
		for _, name := range []string{"Leaf", "Small", "Switch"} {
			offs, list := boundaries(t, t.Function(pkg+name))
			var all []*kprobes.Kprobe
			for i, off := range offs {
				if list[i].Movable() == 0 && (i+round)%3 != 0 {
					all = append(all, &kprobes.Kprobe{SymbolName: pkg + name, Offset: off})
					if i%4 == round%4 {
						all[len(all)-1].PostHandler = postNothing
					}
				}
			}
			t.Must(kprobes.RegisterKprobes(all))
			time.Sleep(time.Millisecond)
			if round%2 == 0 {
				kprobes.UnregisterKprobes(all)
			} else {
				for _, k := range all {
					kprobes.UnregisterKprobe(k)
				}
			}
			for _, k := range all {
				expect(t, k, k.Hits(), 0)
				hits += k.Hits()
			}
		}
	}
	stop.Store(true)
	t.Wait()
	clean(t)
	t.Logf("%d rounds of calls, %d hits", calls.Load(), hits)
	if hits == 0 {
		t.Errorf("no probe was ever hit")
	}
}

// armedAtOnce registers a probe on a function that all CPUs are calling, and
// calls it: from the moment that registering returns every call is a hit, and
// none any more when unregistering returns.
//
// QEMU before 8.1 can lose a change of code that another CPU translates just
// then, and continue with the old code for ever, with or without the breakpoint.
func armedAtOnce(t *suites.T) {
	const mine, calls = 0xabcdef, 10
	var stop atomic.Bool
	for range cpu.Num() {
		t.Go(func() {
			for n := uint64(0); !stop.Load(); n++ {
				if targets.Count(n) != targets.CountWant(n) {
					t.Fatalf("Count(%d) is wrong", n)
				}
			}
		})
	}
	var hits atomic.Uint64
	for round := range uint64(suites.Rounds(100, 300)) {
		k := on(t, "Count", func(r *amd64.Regs) {
			if r.AX == mine<<32 {
				hits.Add(1)
			}
		})
		for range calls {
			targets.Count(mine << 32)
		}
		if n := hits.Load(); n != (round+1)*calls {
			t.Errorf("round %d: %d hits by now, want %d", round, n, (round+1)*calls)
			hits.Store((round + 1) * calls)
		}
		kprobes.UnregisterKprobe(k)
		targets.Count(mine << 32)
		expect(t, k, k.Hits(), 0)
	}
	stop.Store(true)
	t.Wait()
	clean(t)
}
