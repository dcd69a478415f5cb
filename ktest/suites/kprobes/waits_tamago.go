//go:build tamago

package kprobes

import (
	"sync/atomic"

	"sonde/arch/amd64"
	"sonde/kernel/cpu"
	"sonde/kprobes"
	"sonde/ktest/suites"
	"sonde/ktest/suites/targets"
	"sonde/optprobe"
)

func init() {
	suites.Add("kprobes/unregistering_one_of_two_waits_for_its_handler", waitsBesideAnother)
}

// waitsBesideAnother unregisters a probe while its handler, which a trap or a jump has
// called, runs on another CPU. The breakpoint or the jump stays, for the other probe
// there, so nothing is written, and no CPU has to be told: only the wait for
// handlers is left.
func waitsBesideAnother(t *suites.T) {
	if cpu.Num() == 1 {
		t.Skipf("one CPU: there is no other for the handler to be on")
	}
	for _, post := range []kprobes.PostHandler{postNothing, nil} {
		waitsBeside(t, post)
	}
	clean(t)
}

func waitsBeside(t *suites.T, post kprobes.PostHandler) {
	const stay = 300e6 // ns
	f := targets.Funcs()[0]
	var entered, returned, after atomic.Bool
	k := &kprobes.Kprobe{SymbolName: pkg + f.Name, PreHandler: func(*kprobes.Kprobe, *amd64.Regs) int {
		if entered.Swap(true) {
			return 0
		}
		for end := cpu.Nanotime() + stay; cpu.Nanotime() < end && !returned.Load(); {
			cpu.Pause()
		}
		after.Store(returned.Load())
		return 0
	}}
	other := &kprobes.Kprobe{SymbolName: k.SymbolName, PostHandler: post}
	t.Must(kprobes.RegisterKprobes([]*kprobes.Kprobe{k, other}))
	if optprobe.Able() {
		t.Must(optprobe.Optimize())
	}
	if jump := kprobes.Optimized(k.Addr); jump != (post == nil && optprobe.Able()) {
		t.Errorf("hit by a jump: %v", jump)
	}
	t.Go(func() { f.Call() })
	t.Until("the handler", entered.Load)
	kprobes.UnregisterKprobe(k)
	returned.Store(true)
	t.Wait()
	kprobes.UnregisterKprobe(other)
	if after.Load() {
		t.Errorf("post-handler %v: it is unregistered, and its handler still runs", post != nil)
	}
}
