//go:build tamago

package programs

import (
	"math/rand/v2"
	"sync/atomic"
	"time"

	"sonde/arch/amd64"
	"sonde/kprobes"
	"sonde/ktest/suites"
	"sonde/sysctl"
)

// served lists kernel functions that run on behalf of programs.
var served = []string{
	"sonde/linux/syscall.Handle", "sonde/linux/syscall.read", "sonde/linux/syscall.write", "sonde/linux/syscall.execve",
	"sonde/linux/proc.(*Thread).Clone", "sonde/linux/proc.(*Thread).steps", "sonde/linux/space.(*Space).Fault",
}

// probeServed registers probes, switches them off and on, unregisters them, and counts their
// hits.
func probeServed(t *suites.T, on func(rounds int) bool, hits *atomic.Uint64) {
	for n := 0; on(n); n++ {
		p := anyProbe(served[rand.N(len(served))])
		if err := p.register(); err != nil {
			t.Errorf("%s: %v", p.k.SymbolName, err)
			return
		}
		for range rand.N(4) {
			time.Sleep(rand.N(20 * time.Millisecond))
			t.Must(kprobes.DisableKprobe(p.k))
			time.Sleep(rand.N(5 * time.Millisecond))
			t.Must(kprobes.EnableKprobe(p.k))
		}
		time.Sleep(rand.N(20 * time.Millisecond))
		p.unregister()
		hits.Add(p.ledger().Handled)
		t.Until(p.k.SymbolName+": all hits to be explained", func() bool { l := p.ledger(); return l.Unexplained() == 0 }) // calls that are probed still return
	}
}

// soaked is a probe of any kind.
type soaked struct {
	k          *kprobes.Kprobe
	register   func() error
	unregister func()
	ledger     func() kprobes.Ledger
}

// anyProbe returns a return probe, a kprobe, or a kprobe that cannot become a jump.
func anyProbe(symbol string) soaked {
	pre := func(*kprobes.Kprobe, *amd64.Regs) int { return 0 }
	kind := rand.N(3)
	if kind == 0 {
		rp := &kprobes.Kretprobe{MaxActive: 32, Handler: func(*kprobes.KretprobeInstance, *amd64.Regs) int { return 0 }}
		rp.KP.SymbolName = symbol
		return soaked{&rp.KP, func() error { return kprobes.RegisterKretprobe(rp) }, func() { kprobes.UnregisterKretprobe(rp) }, rp.Ledger}
	}
	k := &kprobes.Kprobe{SymbolName: symbol, PreHandler: pre}
	if kind == 1 {
		k.PostHandler = func(*kprobes.Kprobe, *amd64.Regs, uint64) {}
	}
	return soaked{k, func() error { return kprobes.RegisterKprobe(k) }, func() { kprobes.UnregisterKprobe(k) }, k.Ledger}
}

// switchAll turns probes into jumps and back into breakpoints, and disarms and arms them all. At the
// end it leaves them armed, and jumps allowed.
func switchAll(t *suites.T, on func(rounds int) bool) (n int) {
	const optimization = "debug.kprobes-optimization"
	defer func() {
		kprobes.SetEnabled(true)
		t.Must(sysctl.Set(optimization, "1"))
	}()
	for ; on(n); n++ {
		time.Sleep(rand.N(100 * time.Millisecond))
		switch rand.N(4) {
		case 0:
			t.Must(sysctl.Set(optimization, "0"))
		case 1:
			t.Must(sysctl.Set(optimization, "1"))
		case 2:
			kprobes.SetEnabled(false)
		default:
			kprobes.SetEnabled(true)
		}
	}
	return n
}
