//go:build tamago

package optimized

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
	suites.Add("optimized/stack_check_with_other_probes", withOthers)
	suites.Add("optimized/stack_check_with_probes_that_come_and_go", comeAndGo)
	suites.Add("optimized/endless_recursion_in_a_handler", endlessInHandler)
}

// withOthers sets probes on each subset of the other instructions of the stack check, enabled and
// disabled, while the collector makes checks fail. A call used to be counted twice when the
// collector's request came between the probe at the entry, which decides how the check ends, and the
// comparison.
func withOthers(t *suites.T) {
	t.OneProcessor()
	calls := uint64(suites.Rounds(50, 100))
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
		offs := boundaries(t, t.Containing(entry(f)))[1:4]
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

// othersSet calls f with a probe at its entry, and at those of offs that set selects.
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

// comeAndGo sets a probe on the comparison, at first enabled, then disabled, and so on. When it was
// removed while a CPU was on its way there from the entry, the comparison used to be executed all
// the same.
func comeAndGo(t *suites.T) {
	k := at(entry(targets.Medium), pre)
	inner := at(k.Addr+boundaries(t, t.Containing(k.Addr))[1], pre)
	register(t, k, inner)
	var stop atomic.Bool
	var calls atomic.Uint64
	for range cpu.Num() + 1 {
		t.Go(func() {
			for n := uint64(0); !stop.Load(); n++ {
				callOne(t, targets.Medium, n)
				calls.Add(1)
			}
		})
	}
	t.Go(func() {
		for !stop.Load() {
			runtime.GC()
		}
	})
	for end := time.Now().Add(suites.Storm(1)); time.Now().Before(end); {
		t.Must(kprobes.DisableKprobe(inner))
		t.Must(kprobes.EnableKprobe(inner))
	}
	stop.Store(true)
	t.Wait()
	kprobes.UnregisterKprobes([]*kprobes.Kprobe{k, inner})
	account(t, k, "the entry", calls.Load(), 0)
	account(t, inner, "the comparison", inner.Hits(), inner.NMissed()+inner.Ledger().Disarmed)
	clean(t)
}

//go:noinline
func endless(n uint64) uint64 {
	var pad [32]uint64
	pad[n%32] = n
	return endless(n+1) + pad[(n+1)%32]
}

var sink uint64

// endlessInHandler makes a handler overflow the trap stack by a function that is
// probed itself. A breakpoint that continues in a detour used to leave out the
// stack check that notices.
func endlessInHandler(t *suites.T) {
	defer setSysctl(t, "1")
	for _, jump := range []string{"1", "0"} {
		setSysctl(t, "1")
		inner := at(entry(endless), pre)
		outer := at(entry(targets.Leaf), func(*kprobes.Kprobe, *amd64.Regs) int { sink = endless(0); return 0 })
		optimized(t, inner, outer)
		setSysctl(t, jump)
		for i := range uint64(3) {
			suites.Equal(t, "Leaf", targets.Leaf(i, 1), 3*i+1)
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
