//go:build tamago

package optimized

import (
	"runtime"
	"runtime/debug"
	"sync/atomic"

	"sonde/kernel/cpu"
	"sonde/kprobes"
	"sonde/ktest/suites"
	"sonde/ktest/suites/targets"
)

func init() {
	suites.Add("optimized/growing_stacks_are_not_hits", growingStacks)
	suites.Add("optimized/growth_at_every_depth", everyDepth)
	suites.Add("optimized/preemption_is_not_a_hit", preemption)
	suites.Add("optimized/stack_check_without_a_jump", withoutJump)
}

// onEntries returns probes on functions with the three kinds of stack check.
func onEntries() (small, medium, large *kprobes.Kprobe) {
	return at(entry(targets.Small), pre), at(entry(targets.Medium), pre), at(entry(targets.Large), pre)
}

// descend calls f at each depth from n on upwards, in small steps: at one of them f's own frame is
// what does not fit.
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

// growingStacks starts new goroutines, with small stacks, whose first deep call is
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

// everyDepth makes each function grow the stack itself, at one depth or another.
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

// preemption makes the collector stop the goroutines all the time: it asks them by
// making their stack checks fail.
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

// withoutJump hits breakpoints that have a detour: their hits take another way than those of jumps.
func withoutJump(t *suites.T) {
	const goroutines, depth = 40, 100
	small, medium, large := onEntries()
	grow := at(entry(targets.Grow), pre)
	all := []*kprobes.Kprobe{small, medium, large, grow}
	optimized(t, all...)
	setSysctl(t, "0")
	defer setSysctl(t, "1")
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
