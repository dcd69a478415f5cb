//go:build tamago

package optimized

import (
	"runtime"
	"runtime/debug"
	"sync/atomic"

	"sonde/arch/amd64"
	"sonde/kernel/cpu"
	"sonde/kprobes"
	"sonde/qemu/suites"
	"sonde/qemu/suites/targets"
)

func init() {
	suites.Add("optimized/growing_stacks_are_not_hits", growingStacks)
	suites.Add("optimized/growth_at_every_depth", everyDepth)
	suites.Add("optimized/preemption_is_not_a_hit", preemption)
	suites.Add("optimized/stack_check_without_a_jump", withoutJump)
	suites.Add("optimized/stack_check_with_other_probes", withOthers)
	suites.Add("optimized/endless_recursion_in_a_handler", endlessInHandler)
}

// onEntries returns probes on functions with the three kinds of stack check.
func onEntries() (small, medium, large *kprobes.Kprobe) {
	return at(entry(targets.Small), pre), at(entry(targets.Medium), pre), at(entry(targets.Large), pre)
}

// descend calls f from depth n and from each above, with small steps: at one of
// them f's own frame is what does not fit.
//
//go:noinline
func descend(n int, f func() bool) bool {
	if n == 0 {
		return f()
	}
	return descend(n-1, f) && f()
}

// callAll is a call of each function.
func callAll() bool {
	return targets.Small(7) == 45 && targets.Medium(7) == 148 && targets.Large(7) == 58
}

// growingStacks has new goroutines, with small stacks, whose first deep call is
// the probed one.
func growingStacks(t *suites.T) {
	const goroutines, depth = 60, 200
	defer debug.SetGCPercent(debug.SetGCPercent(1))
	small, medium, large := onEntries()
	grow := at(entry(targets.Grow), pre)
	optimized(t, small, medium, large, grow)
	calls := []func() bool{
		func() bool { return targets.Small(7) == 45 }, func() bool { return targets.Medium(7) == 148 },
		func() bool { return targets.Large(7) == 58 }, func() bool { return targets.Grow(depth) == depth*(depth+1)/2 },
	}
	for i := range goroutines {
		for _, f := range calls {
			done := make(chan bool)
			go func() { done <- f() }()
			if !<-done {
				t.Errorf("goroutine %d: a probed function returned something else", i)
			}
		}
	}
	kprobes.UnregisterKprobes([]*kprobes.Kprobe{small, medium, large, grow})
	account(t, small, "Small", goroutines, 0)
	account(t, medium, "Medium", goroutines, 0)
	account(t, large, "Large", goroutines, 0)
	account(t, grow, "Grow", goroutines*(depth+1), 0)
	clean(t)
}

// everyDepth has each function grow the stack itself, at one depth or another.
func everyDepth(t *suites.T) {
	const depths = 160
	small, medium, large := onEntries()
	optimized(t, small, medium, large)
	for depth := range depths {
		done := make(chan bool)
		go func() { done <- descend(depth, callAll) }()
		if !<-done {
			t.Errorf("depth %d: a probed function returned something else", depth)
		}
	}
	const calls = depths * (depths + 1) / 2
	kprobes.UnregisterKprobes([]*kprobes.Kprobe{small, medium, large})
	account(t, small, "Small", calls, 0)
	account(t, medium, "Medium", calls, 0)
	account(t, large, "Large", calls, 0)
	clean(t)
}

// preemption has the collector stop the goroutines all the time: it asks by
// having their stack checks fail.
func preemption(t *suites.T) {
	const calls = 20_000
	small, medium, large := onEntries()
	optimized(t, small, medium, large)
	var stop atomic.Bool
	t.Go(func() {
		for !stop.Load() {
			runtime.GC()
		}
	})
	var left atomic.Int32
	left.Store(int32(cpu.Num()))
	for range cpu.Num() {
		t.Go(func() {
			for range calls {
				if !callAll() {
					t.Fatalf("a probed function returned something else")
				}
			}
			if left.Add(-1) == 0 {
				stop.Store(true)
			}
		})
	}
	t.Wait()
	kprobes.UnregisterKprobes([]*kprobes.Kprobe{small, medium, large})
	n := uint64(calls * cpu.Num())
	account(t, small, "Small", n, 0)
	account(t, medium, "Medium", n, 0)
	account(t, large, "Large", n, 0)
	clean(t)
}

// withoutJump hits breakpoints that have a detour: the way is another one.
func withoutJump(t *suites.T) {
	const goroutines, depth = 40, 100
	small, medium, large := onEntries()
	grow := at(entry(targets.Grow), pre)
	all := []*kprobes.Kprobe{small, medium, large, grow}
	optimized(t, all...)
	knob(t, "0")
	defer knob(t, "1")
	for range goroutines {
		done := make(chan bool)
		go func() {
			done <- descend(40, callAll) && targets.Grow(depth) == depth*(depth+1)/2
		}()
		if !<-done {
			t.Errorf("a probed function returned something else")
		}
	}
	for _, k := range all {
		hasNone(t, "switched off", k.Addr)
	}
	kprobes.UnregisterKprobes(all)
	for _, k := range all[:3] {
		account(t, k, "one of three", goroutines*41, 0)
	}
	account(t, grow, "Grow", goroutines*(depth+1), 0)
	clean(t)
}

// withOthers has probes on each set of the other instructions of the stack check,
// enabled and disabled, while the collector has checks fail. A call was counted
// twice when such a request came between the probe at the entry, which decides
// what comes of the check, and the comparison.
func withOthers(t *suites.T) {
	const calls = 1000
	defer debug.SetGCPercent(debug.SetGCPercent(1))
	var stop atomic.Bool
	ended := make(chan bool)
	go func() { // not t.Go: Together waits for all of those
		for !stop.Load() {
			runtime.GC()
		}
		close(ended)
	}()
	defer func() { stop.Store(true); <-ended }()
	for _, f := range []func(uint64) uint64{targets.Medium, targets.Large} {
		offs := boundaries(t, function(t, entry(f)))[1:4]
		if entry(f) == entry(targets.Medium) {
			offs = offs[:1]
		}
		for set := range 1 << (2 * len(offs)) {
			if !othersSet(t, f, offs, set, calls) {
				return
			}
		}
	}
}

// othersSet calls f with a probe at its entry, and at those of offs that set says.
func othersSet(t *suites.T, f func(uint64) uint64, offs []uintptr, set int, calls uint64) bool {
	ks := []*kprobes.Kprobe{at(entry(f), pre)}
	for i, off := range offs {
		if set>>(2*i)&1 == 0 {
			continue
		}
		k := at(entry(f)+off, pre)
		if set>>(2*i)&2 != 0 {
			k.Flags = kprobes.FlagDisabled
		}
		ks = append(ks, k)
	}
	register(t, ks...)
	optimize(t)
	t.Together(func(int) {
		for i := range calls {
			callOne(t, f, i)
		}
	})
	kprobes.UnregisterKprobes(ks)
	n := calls * uint64(cpu.Num())
	account(t, ks[0], "the entry", n, 0)
	for _, k := range ks[1:] {
		if k.Flags&kprobes.FlagDisabled == 0 && k.Hits() < n {
			t.Errorf("%s was hit %d times in %d calls", name(k.Addr), k.Hits(), n)
		}
	}
	return !t.Failed()
}

//go:noinline
func endless(n uint64) uint64 {
	var pad [32]uint64
	pad[n%32] = n
	return endless(n+1) + pad[(n+1)%32]
}

var sink uint64

// endlessInHandler has a handler overflow the trap stack by a function that is
// probed itself. A breakpoint that goes on in a detour used to leave out the
// stack check that notices.
func endlessInHandler(t *suites.T) {
	defer knob(t, "1")
	for _, jump := range []string{"1", "0"} {
		knob(t, "1")
		inner := at(entry(endless), pre)
		outer := at(entry(targets.Leaf), func(*kprobes.Kprobe, *amd64.Regs) int { sink = endless(0); return 0 })
		optimized(t, inner, outer)
		knob(t, jump)
		for i := range uint64(3) {
			expect(t, "Leaf", targets.Leaf(i, 1), 3*i+1)
		}
		kprobes.UnregisterKprobes([]*kprobes.Kprobe{inner, outer})
		if l := outer.Ledger(); l.Abandoned != 1 || l.Handled != 0 || l.Unexplained() != 0 {
			t.Errorf("outer: %+v", l)
		}
		if l := inner.Ledger(); l.Recursion < 2 || l.Handled != 0 || l.Unexplained() != 0 {
			t.Errorf("inner: %+v", l)
		}
	}
	clean(t)
}
