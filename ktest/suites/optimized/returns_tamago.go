//go:build tamago

package optimized

import (
	"runtime"
	"runtime/debug"
	"sync/atomic"

	"sonde/arch/amd64"
	"sonde/kernel/cpu"
	"sonde/kernel/smp"
	"sonde/kprobes"
	"sonde/ktest/suites"
	"sonde/ktest/suites/targets"
)

func init() {
	suites.Add("optimized/returns_of_every_go_function", everyReturn)
	suites.Add("optimized/returns_while_stacks_grow_and_shrink", returnsGrow)
	suites.Add("optimized/returns_that_never_come", neverReturns)
	suites.Add("optimized/returns_by_recover", recovers)
	suites.Add("optimized/returns_in_many_goroutines", manyGoroutines)
	suites.Add("optimized/returns_while_jumps_come_and_go", jumpsComeAndGo)
	suites.Add("optimized/returns_behind_an_abandoned_handler", abandonedInFront)
	suites.Add("optimized/returns_while_stacks_grow_and_shrink_behind_a_kprobe", behindKprobe(returnsGrow))
	suites.Add("optimized/returns_that_never_come_behind_a_kprobe", behindKprobe(neverReturns))
	suites.Add("optimized/returns_by_recover_behind_a_kprobe", behindKprobe(recovers))
	suites.Add("optimized/returns_in_many_goroutines_behind_a_kprobe", behindKprobe(manyGoroutines))
	suites.Add("optimized/returns_while_jumps_come_and_go_behind_a_kprobe", behindKprobe(jumpsComeAndGo))
}

// behindKprobe is f with behind set.
func behindKprobe(f func(*suites.T)) func(*suites.T) {
	return func(t *suites.T) {
		behind = true
		defer func() { behind = false }()
		f(t)
	}
}

// behind has onReturn set a kprobe on each entry first: calls are entered another way.
var behind bool

// ret is a return handler that does nothing.
func ret(*kprobes.KretprobeInstance, *amd64.Regs) int { return 0 }

// onReturn registers return probes and ends the case unless their entries are
// optimized; remove checks that every call is accounted for.
func onReturn(t *suites.T, max int, fs ...any) (rps []*kprobes.Kretprobe, remove func()) {
	var front []*kprobes.Kprobe
	for _, f := range fs {
		if behind {
			front = append(front, at(entry(f), pre))
			t.Must(kprobes.RegisterKprobe(front[len(front)-1]))
		}
		rp := &kprobes.Kretprobe{KP: kprobes.Kprobe{Addr: entry(f)}, Handler: ret, MaxActive: max}
		t.Must(kprobes.RegisterKretprobe(rp))
		rps = append(rps, rp)
	}
	optimize(t)
	for _, rp := range rps {
		hasJump(t, "return probe", rp.KP.Addr)
	}
	return rps, func() {
		kprobes.UnregisterKretprobes(rps)
		for _, rp := range rps {
			t.Until("the last probed call", func() bool { return rp.Ledger().InFlight == 0 })
			settled(t, rp)
		}
		for i, k := range front {
			account(t, k, "the kprobe in front", rps[i].Ledger().Entered, 0)
		}
		kprobes.UnregisterKprobes(front)
		clean(t)
	}
}

// settled checks that rp's account balances and no instance is in use.
func settled(t *suites.T, rp *kprobes.Kretprobe) {
	if l := rp.Ledger(); l.Unexplained() != 0 || l.InFlight != 0 {
		t.Errorf("account %+v, unexplained %d", l, l.Unexplained())
	}
}

func everyReturn(t *suites.T) {
	t.OneProcessor()
	for _, f := range targets.Funcs() {
		rp := &kprobes.Kretprobe{Handler: ret, MaxActive: 64}
		rp.KP.SymbolName = targetsPkg + f.Name
		t.Must(kprobes.RegisterKretprobe(rp))
		jumps(t, &rp.KP)
		for range 10 {
			suites.Equal(t, f.Name, f.Call(), f.Want)
		}
		kprobes.UnregisterKretprobe(rp)
		settled(t, rp)
		suites.Equal(t, f.Name+" returns", rp.Hits(), 10*f.Calls)
	}
	clean(t)
}

// during runs f; its frame is on the stack that f changes.
//
//go:noinline
func during(n uint64, f func()) uint64 {
	f()
	return n + 1
}

// returnsGrow moves the stacks of calls in flight, up and down, while garbage is
// collected; Grow is probed as well, and recurses.
func returnsGrow(t *suites.T) {
	const calls, depth = 60, 100
	defer debug.SetGCPercent(debug.SetGCPercent(1))
	rps, remove := onReturn(t, 2*depth, during, targets.Grow)
	for i := range uint64(calls) {
		t.Go(func() {
			n := during(i, func() {
				suites.Equal(t, "Grow", targets.Grow(depth-1), depth*(depth-1)/2)
				runtime.GC() // shrinks it
			})
			suites.Equal(t, "during", n, i+1)
		})
		if i%8 == 7 {
			t.Wait()
		}
	}
	t.Wait()
	remove()
	suites.Equal(t, "returns of during", rps[0].Hits(), calls)
	grow := rps[1].Ledger()
	suites.Equal(t, "calls of Grow", grow.Entered, calls*depth)
	suites.Equal(t, "those that returned or had no instance", grow.Handled+grow.NoInst, calls*depth)
}

//go:noinline
func unwound(depth int, end func()) int {
	if depth == 0 {
		end()
		return 1
	}
	return unwound(depth-1, end) + 1
}

// neverReturns: panics and Goexit unwind probed calls; there are just enough instances for one
// descent.
func neverReturns(t *suites.T) {
	const calls, times = 6, 100
	rps, remove := onReturn(t, calls, unwound)
	rp := rps[0]
	for i := range uint64(times) {
		func() {
			defer func() { recover() }()
			unwound(calls-1, func() { panic("down") })
		}()
		suites.Equal(t, "InFlight after a panic", rp.Ledger().InFlight, 0)
		done := make(chan bool)
		go func() {
			defer close(done)
			unwound(calls-1, runtime.Goexit)
		}()
		<-done
		t.Until("the goroutine's end", func() bool { return rp.Ledger().Abandoned == (i+1)*2*calls })
		smp.CallAll(func() {}) // the last instance is given back after it is counted, with interrupts off
		suites.Equal(t, "unwound", uint64(unwound(calls-1, func() {})), calls)
	}
	remove()
	l := rp.Ledger()
	suites.Equal(t, "Handled", l.Handled, times*calls)
	suites.Equal(t, "Abandoned", l.Abandoned, 2*times*calls)
	suites.Equal(t, "Missed", l.Missed(), 2*times*calls)
}

// recovers probes the function that recovers: it does return.
func recovers(t *suites.T) {
	rps, remove := onReturn(t, 4, targets.Deferred)
	for range 200 {
		if v, err := targets.Deferred(nil, 3); v != 77 || err == nil {
			t.Errorf("Deferred returns %d, %v", v, err)
		}
	}
	remove()
	suites.Equal(t, "Handled", rps[0].Hits(), 200)
}

// manyGoroutines puts all of them into the probed function at once; they leave it
// on any CPU.
func manyGoroutines(t *suites.T) {
	const goroutines = 400
	rps, remove := onReturn(t, goroutines, during)
	var entered atomic.Uint64
	for i := range uint64(goroutines) {
		t.Go(func() {
			n := during(i, func() {
				entered.Add(1)
				t.Until("all to be inside", func() bool { return entered.Load() == goroutines })
			})
			suites.Equal(t, "during", n, i+1)
		})
	}
	t.Wait()
	remove()
	suites.Equal(t, "Handled", rps[0].Hits(), goroutines)
}

// jumpsComeAndGo switches optimization while calls are anywhere: each is entered
// and returns, by a jump or by a breakpoint.
func jumpsComeAndGo(t *suites.T) {
	defer setSysctl(t, "1")
	rps, remove := onReturn(t, 100, targets.Count, targets.Medium, targets.Grow)
	var stop atomic.Bool
	var calls atomic.Uint64
	for range cpu.Num() + 1 {
		t.Go(func() {
			for i := uint64(0); !stop.Load(); i++ {
				if targets.Count(i) != targets.CountWant(i) || targets.Medium(7) != 148 {
					t.Fatalf("Count(%d) or Medium is wrong", i)
				}
				if i%64 == 0 {
					suites.Equal(t, "Grow", targets.Grow(9), 45)
				}
				calls.Add(1)
			}
		})
	}
	for i := range 60 {
		before := calls.Load()
		setSysctl(t, string('0'+byte(i%2)))
		t.Until("calls", func() bool { return calls.Load() > before+100 })
	}
	stop.Store(true)
	t.Wait()
	remove()
	for _, rp := range rps[:2] {
		suites.Equal(t, "calls that returned", rp.Hits(), calls.Load())
	}
	suites.Equal(t, "missed", rps[2].NMissed()+rps[2].KP.NMissed(), 0)
}

// abandonedInFront makes the handler of a kprobe break the rules in front of a return
// probe: the call is entered and returns, as all later ones.
func abandonedInFront(t *suites.T) {
	const calls = 10
	var nobody *uint64
	k := at(entry(targets.Count), func(*kprobes.Kprobe, *amd64.Regs) int { *nobody++; return 0 })
	t.Must(kprobes.RegisterKprobe(k))
	rps, remove := onReturn(t, 4, targets.Count)
	for i := range uint64(calls) {
		suites.Equal(t, "Count", targets.Count(i), targets.CountWant(i))
	}
	kprobes.UnregisterKprobe(k)
	remove()
	suites.Equal(t, "returns", rps[0].Hits(), calls)
	suites.Equal(t, "the kprobe", k.Ledger(), kprobes.Ledger{Entered: calls, Disarmed: calls - 1, Abandoned: 1})
}
