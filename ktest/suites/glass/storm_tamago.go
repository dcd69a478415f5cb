//go:build tamago

package glass

import (
	"errors"
	"runtime"
	"sync/atomic"
	"syscall"

	"sonde/kernel/cpu"
	"sonde/kprobes"
	"sonde/ktest/suites"
	"sonde/ktest/suites/targets"
	"sonde/probe/glass"
)

func init() {
	suites.Add("glass/eight_at_once", eightAtOnce)
	suites.Add("glass/two_at_one_place", twoAtOnePlace)
	suites.Add("glass/never_hit", neverHit)
	suites.Add("glass/storm", storm)
}

// eightAtOnce: at eight places, and a ninth is refused.
func eightAtOnce(t *suites.T) {
	var shots []*shot
	funcs := targets.Funcs()[:glass.Most]
	for _, f := range funcs {
		shots = append(shots, begin(t, pkg+f.Name, 0, 1, true))
	}
	if _, err := glass.New(1, -1); !errors.Is(err, syscall.EBUSY) {
		t.Errorf("one more: %v", err)
	}
	for _, f := range funcs {
		if got := f.Call(); got != f.Want {
			t.Errorf("%s returns %d, want %d", f.Name, got, f.Want)
		}
	}
	for i, s := range shots {
		if frames := s.end(); len(frames) < 2 || !s.film.Done() {
			t.Errorf("%s: %d frames", funcs[i].Name, len(frames))
		}
	}
}

func twoAtOnePlace(t *suites.T) {
	s := begin(t, pkg+"Leaf", 0, 1, true)
	film, err := glass.New(1, -1)
	t.Must(err)
	defer film.Close()
	c := kprobes.Camera{KP: kprobes.Kprobe{SymbolName: pkg + "Leaf"}, Film: film}
	if err := kprobes.RegisterCamera(&c); !errors.Is(err, syscall.EBUSY) {
		t.Errorf("%v", err)
	}
	targets.Leaf(3, 4)
	s.ended(glass.Trapped, glass.ToSlot)
}

func neverHit(t *suites.T) {
	s := begin(t, pkg+"Leaf", 0, 1, false)
	if frames := s.end(); len(frames) != 0 || s.film.Done() || s.film.Begun() {
		t.Errorf("%d frames", len(frames))
	}
}

// storm: all CPUs call a function with probes of every kind while cameras come and go, and the collector
// runs. A camera may be taken away at any moment; what it has until then keeps the rules.
func storm(t *suites.T) {
	rounds := suites.Rounds(60, 150)
	k := &kprobes.Kprobe{SymbolName: pkg + "Nine", PreHandler: pre}
	rp := &kprobes.Kretprobe{KP: kprobes.Kprobe{SymbolName: pkg + "Nine"}, Handler: back, MaxActive: 64}
	t.Must(kprobes.RegisterKprobe(k))
	t.Must(kprobes.RegisterKretprobe(rp))
	var stop atomic.Bool
	var calls, wrong atomic.Uint64
	for range cpu.Num() + 1 {
		t.Go(func() {
			for !stop.Load() {
				if targets.Nine(11, 22, 33, 44, 55, 66, 77, 88, 99) != 3135 {
					wrong.Add(1)
				}
				if calls.Add(1)%64 == 0 {
					runtime.Gosched()
				}
			}
		})
	}
	t.Go(func() {
		for !stop.Load() {
			runtime.GC()
			runtime.Gosched()
		}
	})
	over := 0
	for i := range rounds {
		s := begin(t, pkg+"Nine", 0, uint64(1+i*7%50), i%2 == 0)
		for n := 0; n < i%5*20 && !s.film.Done(); n++ {
			runtime.Gosched()
		}
		if s.film.Done() {
			over++
		}
		s.end()
	}
	stop.Store(true)
	t.Wait()
	kprobes.UnregisterKretprobe(rp)
	kprobes.UnregisterKprobe(k)
	t.Logf("%d calls, %d of %d hits recorded to their end", calls.Load(), over, rounds)
	if wrong.Load() != 0 || over < rounds/10 || k.Ledger().Unexplained() != 0 || rp.Ledger().Unexplained() != 0 {
		t.Errorf("%d wrong results, %d recorded; %+v, %+v", wrong.Load(), over, k.Ledger(), rp.Ledger())
	}
}
