//go:build tamago

package handlers

import (
	"bytes"
	"runtime"
	"strconv"
	"sync/atomic"

	"sonde/arch/amd64"
	"sonde/kernel/cpu"
	"sonde/kprobes"
	"sonde/ktest/suites"
	"sonde/ktest/suites/targets"
	"sonde/optprobe"
)

func init() {
	suites.Add("handlers/know_goroutine_and_cpu", knowContext)
	suites.Add("handlers/know_that_the_scheduler_is_no_goroutine", knowScheduler)
}

// goid returns the number of this goroutine, as its trace begins with it.
func goid(t *suites.T) kprobes.Task {
	buf := make([]byte, 64)
	fields := bytes.Fields(buf[:runtime.Stack(buf, false)])
	n, err := strconv.ParseUint(string(fields[1]), 10, 64)
	t.Must(err)
	return kprobes.Task(n)
}

// knowContext asks in handlers of all kinds, reached by a breakpoint and by a jump,
// on all CPUs.
func knowContext(t *suites.T) {
	defer optprobe.Optimization.Store(optprobe.Optimization.Get())
	for _, on := range []bool{false, true} {
		t.Must(optprobe.Optimization.Store(on))
		askAll(t, on)
	}
}

// askAll starts a goroutine on each CPU that hits a kprobe and a return probe.
func askAll(t *suites.T, jumps bool) {
	const calls = 50
	var wrong, asked atomic.Int32
	var want [32]atomic.Uint64 // by CPU, the goroutine that is on it
	ask := func(r *amd64.Regs) {
		asked.Add(1)
		if c := kprobes.Current(r); c.CPU != cpu.ID() || uint64(c.Goroutine) != want[c.CPU].Load() {
			wrong.Add(1)
		}
	}
	k := &kprobes.Kprobe{Addr: entry(targets.Leaf), PreHandler: func(_ *kprobes.Kprobe, r *amd64.Regs) int { ask(r); return 0 }}
	rp := &kprobes.Kretprobe{KP: kprobes.Kprobe{Addr: entry(targets.Leaf)}, MaxActive: 64,
		EntryHandler: func(_ *kprobes.KretprobeInstance, r *amd64.Regs) int { ask(r); return 0 },
		Handler:      func(_ *kprobes.KretprobeInstance, r *amd64.Regs) int { ask(r); return 0 }}
	t.Must(kprobes.RegisterKprobe(k))
	t.Must(kprobes.RegisterKretprobe(rp))
	kprobes.AwaitJumps()
	if jump := kprobes.Optimized(k.Addr); jump != jumps {
		t.Errorf("hit by a jump: %v, want %v", jump, jumps)
	}
	t.Together(func(int) {
		me := uint64(goid(t))
		for range calls {
			want[cpu.ID()].Store(me)
			targets.Leaf(1, 2) // nothing from the line before on leads to the scheduler
		}
	})
	kprobes.UnregisterKprobe(k)
	kprobes.UnregisterKretprobe(rp)
	if n := int32(3 * calls * runtime.GOMAXPROCS(0)); asked.Load() != n || wrong.Load() != 0 {
		t.Errorf("asked %d times, want %d; %d answers are wrong", asked.Load(), n, wrong.Load())
	}
}

// knowScheduler asks in the runtime's scheduler, which runs on no goroutine's stack.
func knowScheduler(t *suites.T) {
	var asked, wrong atomic.Int32
	k := &kprobes.Kprobe{SymbolName: "runtime.goschedImpl", PreHandler: func(_ *kprobes.Kprobe, r *amd64.Regs) int {
		asked.Add(1)
		if kprobes.Current(r).Goroutine != 0 {
			wrong.Add(1)
		}
		return 0
	}}
	t.Must(kprobes.RegisterKprobe(k))
	for range 10 {
		runtime.Gosched()
	}
	kprobes.UnregisterKprobe(k)
	if asked.Load() < 10 || wrong.Load() != 0 {
		t.Errorf("asked %d times, %d answers are wrong", asked.Load(), wrong.Load())
	}
}
