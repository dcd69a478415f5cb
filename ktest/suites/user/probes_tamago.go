//go:build tamago

package user

import (
	"runtime"
	"sync/atomic"

	"sonde/arch/amd64"
	ring3 "sonde/arch/amd64/user"
	"sonde/kernel/cpu"
	"sonde/kernel/notifier"
	"sonde/kernel/smp"
	"sonde/kprobes"
	"sonde/ktest/suites"
	"sonde/optprobe"
)

func init() {
	suites.Add("user/nmis_in_ring_3", nmis)
	suites.Add("user/kernel_probes_beside_programs", probes)
	suites.Add("user/probes_in_nmis_in_ring_3", probesInNMIs)
	suites.Add("user/nmi_in_ring_3_is_not_outside_of_probes", nmiIsWaitedFor)
}

// takeNMIs makes NMIs call f until the function it returns is called. count is how many
// came, inside how many of them in ring 3.
func takeNMIs(f func()) (count, inside *atomic.Int64, end func()) {
	count, inside = new(atomic.Int64), new(atomic.Int64)
	end = suites.OnNMI(func(r *amd64.Regs) notifier.Action {
		count.Add(1)
		inside.Add(int64(r.CS & 1))
		f()
		return notifier.Stop
	})
	return count, inside, end
}

// sendNMIs sends every other CPU NMIs, in ring 3 most of the time.
func sendNMIs() {
	for range 50 {
		for id := range cpu.Num() {
			cpu.SendNMI(id) // this one takes it here
		}
		cpu.Delay(20e3)
	}
}

// nmis: an NMI in ring 3, or on the way there and back, must trust neither GS nor FS, and
// change nothing.
func nmis(t *suites.T) {
	count, inside, end := takeNMIs(floats)
	keepBusy(t, sendNMIs, func() bool { return count.Load() > 300 && (cpu.Num() == 1 || inside.Load() > 100) })
	end()
	t.Logf("%d NMIs, %d of them in ring 3", count.Load(), inside.Load())
}

//go:noinline
func served(a uint64) uint64 { return a*3 + 1 }

//go:noinline
func servedInNMI(a uint64) uint64 { return a*5 + 1 }

// plant registers a probe on f that only counts.
func plant(t *suites.T, symbol string, post kprobes.PostHandler) *kprobes.Kprobe {
	k := &kprobes.Kprobe{SymbolName: symbol, PreHandler: func(*kprobes.Kprobe, *amd64.Regs) int { return 0 }, PostHandler: post}
	t.Must(kprobes.RegisterKprobe(k))
	return k
}

// jumps waits until k is a jump, where there are any.
func jumps(t *suites.T, k *kprobes.Kprobe) {
	if !optprobe.Able() {
		return
	}
	t.Must(optprobe.Optimize())
	if !kprobes.Optimized(k.Addr) {
		t.Fatalf("%s is no jump", k.SymbolName)
	}
}

// probes: system calls run into probes, a stepped one and one that is a jump, while they
// are registered and unregistered under loops in ring 3.
func probes(t *suites.T) {
	const rounds, calls = 10, 2000
	_, spin, _, _, _, _ := pieces()
	p := load(t, piece(t, spin))
	defer p.Close()
	l := loops(t, p, cpu.Num(), nil)
	defer l.end()
	code, _, _, _, _, _ := pieces()
	q := load(t, piece(t, code))
	defer q.Close()
	c := q.thread()
	for round := range rounds {
		var post kprobes.PostHandler
		if round&1 != 0 {
			post = func(*kprobes.Kprobe, *amd64.Regs, uint64) {}
		}
		k := plant(t, "sonde/ktest/suites/user.served", post)
		if post == nil {
			jumps(t, k)
		}
		for i := range uint64(calls) {
			if e := settle(c); e != ring3.SystemCall || served(i) != i*3+1 {
				t.Fatalf("%s", what(c, e))
			}
		}
		if k.Hits() != calls {
			t.Errorf("round %d: %d hits, want %d", round, k.Hits(), calls)
		}
		kprobes.UnregisterKprobe(k)
	}
}

// probesInNMIs: the handlers of NMIs that come in ring 3 hit probes. A grace period must
// not take such a CPU for one that is in ring 3 and nothing else.
func probesInNMIs(t *suites.T) {
	t.SeveralProcessors()
	k := plant(t, "sonde/ktest/suites/user.servedInNMI", nil)
	jumps(t, k)
	var bad atomic.Int64
	count, _, end := takeNMIs(func() {
		if servedInNMI(7) != 36 {
			bad.Add(1)
		}
	})
	keepBusy(t, func() {
		sendNMIs()
		runtime.Gosched()
	}, func() bool { return count.Load() > 300 })
	end()
	if hits := int64(k.Hits() + k.NMissed()); hits != count.Load() || bad.Load() != 0 {
		t.Errorf("%d NMIs, %d hits, %d bad results", count.Load(), hits, bad.Load())
	}
	kprobes.UnregisterKprobe(k)
}

// nmiIsWaitedFor: a CPU stands in an NMI that has come in ring 3, and no grace period ends meanwhile.
func nmiIsWaitedFor(t *suites.T) {
	t.SeveralProcessors()
	defer suites.NoCollection()()
	_, spin, _, _, _, _ := pieces()
	p := load(t, piece(t, spin))
	defer p.Close()
	l := loops(t, p, cpu.Num()-1, nil)
	defer l.end()
	var h suites.Standing
	defer suites.OnNMI(func(r *amd64.Regs) notifier.Action {
		if r.CS&3 != 0 {
			h.Stand()
		}
		return notifier.Stop
	})()
	t.Until("an NMI in ring 3", func() bool {
		for id := range cpu.Num() {
			if id != cpu.ID() && !h.Stands() {
				cpu.SendNMI(id)
			}
		}
		return h.Stands()
	})
	stood, passed := h.Passed()
	smp.CallAll(func() {}) // NMIs that were sent meanwhile come before that
	if !stood || passed {
		t.Errorf("a CPU stands in an NMI: %v; it is outside of all probes: %v", stood, passed)
	}
}
