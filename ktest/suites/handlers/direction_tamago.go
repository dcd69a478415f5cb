//go:build tamago

package handlers

import (
	"sonde/arch/amd64"
	"sonde/arch/amd64/trap"
	"sonde/kprobes"
	"sonde/ktest/suites"
	"sonde/optprobe"
)

func init() {
	suites.Add("handlers/direction_flag", directionFlag)
	suites.Add("handlers/direction_flag_in_an_interrupt", directionInInterrupt)
}

func flags() uint64
func backward() uint64
func interruptedBackward() uint64

// vecBackward is an interrupt that nothing else uses.
const vecBackward = 0x92

// seen is what a handler has found: its own flags, and those of what it has interrupted.
type seen struct{ own, probed uint64 }

// directionFlag sets DF, as code of memmove does for a moment, and is hit then. Handlers are Go,
// and find it clear; what they have interrupted has it before and after them.
func directionFlag(t *suites.T) {
	sym, _ := find(t, "backward.abi0")
	defer func() { t.Must(optprobe.Optimization.Store(true)) }()
	for _, w := range []struct {
		name       string
		post, jump bool
	}{{"breakpoint", false, false}, {"single step", true, false}, {"jump", false, true}} {
		var all []seen
		k := &kprobes.Kprobe{Addr: sym + 1, PreHandler: func(_ *kprobes.Kprobe, r *amd64.Regs) int {
			all = append(all, seen{flags(), r.Flags})
			return 0
		}}
		if w.post {
			k.PostHandler = func(_ *kprobes.Kprobe, r *amd64.Regs, _ uint64) { all = append(all, seen{flags(), r.Flags}) }
		}
		all = make([]seen, 0, 4)
		t.Must(optprobe.Optimization.Store(w.jump))
		t.Must(kprobes.RegisterKprobe(k))
		if w.jump {
			t.Must(optprobe.Optimize())
		}
		jumps := kprobes.Optimized(k.Addr)
		behind := backward()
		kprobes.UnregisterKprobe(k)
		want := 1
		if w.post {
			want = 2
		}
		if jumps != w.jump || behind&amd64.RFLAGS_DF == 0 || len(all) != want {
			t.Errorf("%s: jump %v, %d handlers, flags behind it %#x", w.name, jumps, len(all), behind)
		}
		for _, s := range all {
			if s.own&amd64.RFLAGS_DF != 0 || s.probed&amd64.RFLAGS_DF == 0 {
				t.Errorf("%s: flags %#x in a handler, of what it interrupts %#x", w.name, s.own, s.probed)
			}
		}
	}
}

// directionInInterrupt is interrupted while DF is set.
func directionInInterrupt(t *suites.T) {
	var found seen
	trap.SetHandler(vecBackward, func(r *amd64.Regs) { found = seen{flags(), r.Flags} })
	behind := interruptedBackward()
	if found.own&amd64.RFLAGS_DF != 0 || found.probed&amd64.RFLAGS_DF == 0 || behind&amd64.RFLAGS_DF == 0 {
		t.Errorf("flags %#x in a handler, of what it interrupts %#x, behind it %#x", found.own, found.probed, behind)
	}
}
