//go:build tamago

package returns

import (
	"errors"
	"runtime"
	"sync/atomic"
	"syscall"
	"weak"

	"sonde/arch/amd64"
	"sonde/arch/amd64/insn"
	"sonde/kprobes"
	"sonde/ktest/suites"
	"sonde/ktest/suites/targets"
)

func init() {
	suites.Add("returns/registered_by_several_at_once", severalRegister)
	suites.Add("returns/kprobe_registered_by_several_at_once", severalRegisterKprobe)
	suites.Add("returns/jprobe_registered_by_several_at_once", severalRegisterJprobe)
	suites.Add("returns/unregistered_as_a_kprobe_with_calls_in_flight", unregisteredAsKprobe)
}

// race makes a goroutine on each CPU register the same probe at the same time, again and
// again, while registering something else takes long. Exactly one may succeed, and its
// probe must see the calls.
func race(t *suites.T, k *kprobes.Kprobe, addr uintptr, register func() error, ledger func() kprobes.Ledger) {
	const rounds, calls = 20, 10
	for range rounds {
		k.Addr = addr
		var done, wrong atomic.Int32
		attempt := func() {
			switch err := register(); {
			case err == nil:
				done.Add(1)
			case !errors.Is(err, syscall.EEXIST):
				wrong.Add(1)
			}
		}
		var begun atomic.Bool
		t.Go(func() { begun.Store(true); takeLong(t) })
		t.Until("something else to begin", begun.Load)
		for range 2 * runtime.GOMAXPROCS(0) {
			t.Go(attempt)
		}
		t.Wait()
		if done.Load() != 1 || wrong.Load() != 0 {
			t.Errorf("%d registered the same probe, %d were refused for another reason than EEXIST", done.Load(), wrong.Load())
			for range done.Load() { // each has put it on the list
				kprobes.UnregisterKprobe(k)
			}
			return
		}
		for i := range uint64(calls) {
			suites.Equal(t, "Leaf", targets.Leaf(i, 1), 3*i+1)
		}
		kprobes.UnregisterKprobe(k)
		if l := ledger(); l.Handled != calls || l.Entered != calls || l.Unexplained() != 0 {
			t.Fatalf("account %+v of %d calls, %d unexplained", l, calls, l.Unexplained())
		}
	}
}

// takeLong registers a probe on each instruction of a long function, and takes them
// away. It is not called meanwhile.
func takeLong(t *suites.T) {
	fn := t.Function("fmt.(*ss).doScanf")
	var ks []*kprobes.Kprobe
	_, err := insn.Walk(kprobes.Original(uintptr(fn.Addr), uintptr(fn.Size)), func(off int, _ insn.Inst) bool {
		ks = append(ks, &kprobes.Kprobe{Addr: uintptr(fn.Addr) + uintptr(off)})
		return true
	})
	t.Must(err)
	t.Must(kprobes.RegisterKprobes(ks))
	kprobes.UnregisterKprobes(ks)
}

// severalRegister used to replace the instances of a probe during its calls:
// "kretprobe BUG!", or a hang.
func severalRegister(t *suites.T) {
	rp := on(targets.Leaf, nothing)
	race(t, &rp.KP, rp.KP.Addr, func() error { return kprobes.RegisterKretprobe(rp) }, rp.Ledger)
}

func severalRegisterKprobe(t *suites.T) {
	k := &kprobes.Kprobe{PreHandler: func(*kprobes.Kprobe, *amd64.Regs) int { return 0 }}
	race(t, k, entry(targets.Leaf), func() error { return kprobes.RegisterKprobe(k) }, k.Ledger)
}

func severalRegisterJprobe(t *suites.T) {
	j := kprobes.NewJprobe(targets.Leaf, func(uint64, uint64) uint64 { kprobes.JprobeReturn(); return 0 })
	race(t, &j.KP, entry(targets.Leaf), func() error { return kprobes.RegisterJprobe(j) }, j.KP.Ledger)
}

// unregisteredAsKprobe unregisters the entry of a return probe with calls in flight,
// and forgets the probe. They return through its instances, which are kept for that.
func unregisteredAsKprobe(t *suites.T) {
	const calls = 8
	var inside, wrong, returned atomic.Int32
	release := make(chan bool)
	rp := forgotten(t, &returned, func() {
		for i := range uint64(calls) {
			t.Go(func() {
				if n, _ := during(i, func() { inside.Add(1); <-release }); n != i+1 {
					wrong.Add(1)
				}
			})
		}
		t.Until("all to be inside", func() bool { return inside.Load() == calls })
	})
	runtime.GC()
	runtime.GC()
	p := rp.Value()
	if p == nil {
		t.Errorf("the collector has taken the instances of %d calls", calls)
	} else {
		suites.Equal(t, "InFlight", p.Ledger().InFlight, calls)
	}
	close(release)
	t.Wait()
	if wrong.Load() != 0 || returned.Load() != 0 {
		t.Errorf("%d wrong results, %d calls of the return handler", wrong.Load(), returned.Load())
	}
	if p != nil {
		suites.Equal(t, "Disarmed", p.Ledger().Disarmed, calls)
		balanced(t, p)
	}
}

// forgotten registers a probe on during, calls f, unregisters the probe by its entry,
// and keeps no reference to it.
func forgotten(t *suites.T, returned *atomic.Int32, f func()) weak.Pointer[kprobes.Kretprobe] {
	rp := on(during, func(*kprobes.KretprobeInstance, *amd64.Regs) int { returned.Add(1); return 0 })
	t.Must(kprobes.RegisterKretprobe(rp))
	f()
	kprobes.UnregisterKprobe(&rp.KP)
	return weak.Make(rp)
}
