//go:build tamago

package load

import (
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"

	"sonde/kernel/cpu"
	"sonde/kernel/refusal"
	"sonde/kprobes"
	"sonde/probe/ledger"
)

// calls calls a function n times, by several goroutines at once: NAME,N,GOROUTINES.
func calls(args []string) error {
	f, ok := targets[args[0]]
	if !ok {
		return refusal.New(syscall.EINVAL, "%q is no function of this package", args[0])
	}
	n, err := numbers(args[1:]...)
	if err != nil {
		return err
	}
	for i := range here {
		here[i].Store(0)
	}
	var ready atomic.Int64
	together(n[1], func(g int) {
		meet(&ready, n[1])
		for i := g; i < n[0]; i += n[1] {
			if i+n[1] >= n[0] {
				spread(min(n[0], n[1], cpu.Num()))
			}
			f(i)
		}
	})
	total := int64(0)
	for i := range cpu.Num() {
		on := here[i].Load()
		total += on
		report("cpu"+string(rune('0'+i)), "%d", on)
	}
	report("calls", "%d", total)
	return nil
}

// meet waits until n goroutines have come. It keeps its CPU for a while, so that the others get CPUs
// of their own if there are any.
func meet(ready *atomic.Int64, n int) {
	ready.Add(1)
	for i := 1; ready.Load() < int64(n); i++ {
		cpu.Pause()
		if i%10_000 == 0 {
			runtime.Gosched()
		}
	}
}

// spread waits until calls have been made on n CPUs, or the next one would be on a new one. So several
// goroutines use several CPUs, however busy the machine is.
func spread(n int) {
	for i := 1; here[cpu.ID()].Load() > 0 && used() < n; i++ {
		cpu.Pause()
		if i%10_000 == 0 {
			runtime.Gosched()
		}
	}
}

// used returns on how many CPUs calls have been made.
func used() (n int) {
	for i := range cpu.Num() {
		if here[i].Load() > 0 {
			n++
		}
	}
	return n
}

// together runs f in n goroutines, and returns when all have ended.
func together(n int, f func(g int)) {
	var all sync.WaitGroup
	for g := range n {
		all.Go(func() { f(g) })
	}
	all.Wait()
}

// refuse reports what the kernel says of a probe on a function that does not exist: SYMBOL.
func refuse(args []string) error {
	err := kprobes.RegisterKprobe(&kprobes.Kprobe{SymbolName: args[0]})
	if err == nil {
		return refusal.New(syscall.EINVAL, "%s exists", args[0])
	}
	report("refusal", "%v", err)
	return nil
}

// probes reports the ledger of all probes that are there now, and where the last is.
func probes([]string) error {
	var sum ledger.Ledger
	n, gone, at := 0, 0, "nowhere"
	for _, d := range kprobes.All() {
		at = d.Symbol
		for _, p := range d.Probes {
			n++
			if p.Gone {
				gone++
			}
			sum = sum.Plus(p.Ledger)
		}
	}
	report("probes", "%d", n)
	report("at", "%s", at)
	report("gone", "%d", gone)
	report("entered", "%d", sum.Entered)
	report("unexplained", "%d", sum.Unexplained())
	return nil
}
