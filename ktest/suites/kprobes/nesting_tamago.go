//go:build tamago

package kprobes

import (
	"errors"
	"sync/atomic"
	"syscall"

	"sonde/arch/amd64"
	"sonde/kprobes"
	"sonde/ktest/suites"
	"sonde/ktest/suites/targets"
)

func init() {
	suites.Add("kprobes/hit_in_a_handler_is_missed", hitInHandler)
	suites.Add("kprobes/hit_in_a_handler_everywhere", hitInHandlerEverywhere)
	suites.Add("kprobes/own_function_in_own_handler", ownFunction)
}

// hitInHandler makes handlers of both kinds call probed functions: none of those
// probes' handlers runs, each hit is counted.
func hitInHandler(t *suites.T) {
	const calls = 100
	var inner, wrong atomic.Int32
	var probed []*kprobes.Kprobe
	for _, name := range []string{"Leaf", "Small", "Switch", "Nine"} {
		probed = append(probed, on(t, name, func(*amd64.Regs) { inner.Add(1) }))
	}
	call := func() {
		if targets.Leaf(1, 2) != 5 || targets.Small(7) != 45 || targets.Switch(3) != 43 || targets.Nine(1, 2, 3, 4, 5, 6, 7, 8, 9) != 285 {
			wrong.Add(1)
		}
	}
	outer := arm(t, &kprobes.Kprobe{
		SymbolName:  pkg + "Float",
		PreHandler:  func(*kprobes.Kprobe, *amd64.Regs) int { call(); return 0 },
		PostHandler: func(*kprobes.Kprobe, *amd64.Regs, uint64) { call() },
	})
	for range calls {
		if targets.Float(3, 2) != 6.5 {
			t.Errorf("Float(3, 2) is not 6.5")
		}
	}
	kprobes.UnregisterKprobe(outer)
	kprobes.UnregisterKprobes(probed)
	expect(t, outer, calls, 0)
	for i, perCall := range []uint64{3, 1, 1, 1} { // Small calls Leaf twice
		expect(t, probed[i], 0, 2*calls*perCall)
	}
	if inner.Load() != 0 || wrong.Load() != 0 {
		t.Errorf("%d calls of inner handlers, %d wrong results; want none", inner.Load(), wrong.Load())
	}
	clean(t)
}

// hitInHandlerEverywhere does so for every instruction of a function: those
// that are emulated, stepped, or boosted in the copy.
func hitInHandlerEverywhere(t *suites.T) {
	var wrong atomic.Int32
	outer := on(t, "Float", func(*amd64.Regs) {
		if targets.Switch(3) != 43 || targets.Medium(7) != 148 {
			wrong.Add(1)
		}
	})
	defer kprobes.UnregisterKprobe(outer)
	for _, name := range []string{"Switch", "Medium"} {
		offs, _ := boundaries(t, t.Function(pkg+name))
		for i, off := range offs {
			k := &kprobes.Kprobe{SymbolName: pkg + name, Offset: off}
			if i%2 == 1 {
				k.PostHandler = postNothing
			}
			if err := kprobes.RegisterKprobe(k); err != nil {
				if !errors.Is(err, syscall.EILSEQ) {
					t.Errorf("%v", err)
				}
				continue
			}
			targets.Float(3, 2)
			kprobes.UnregisterKprobe(k)
			expect(t, k, 0, k.NMissed())
			if off == 0 {
				expect(t, k, 0, 1)
			}
			if outer.Ledger().Abandoned != 0 {
				t.Fatalf("the handler is abandoned because of a probe on %s+%#x", name, off)
			}
		}
	}
	if wrong.Load() != 0 {
		t.Errorf("%d wrong results", wrong.Load())
	}
}

// ownFunction: a handler that calls the function it is a handler of.
func ownFunction(t *suites.T) {
	k := on(t, "Leaf", func(*amd64.Regs) { targets.Leaf(3, 4) })
	for range 10 {
		if got := targets.Leaf(1, 2); got != 5 {
			t.Errorf("Leaf(1, 2) is %d", got)
		}
	}
	kprobes.UnregisterKprobe(k)
	expect(t, k, 10, 10)
}
