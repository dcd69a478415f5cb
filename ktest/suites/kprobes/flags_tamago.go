//go:build tamago

package kprobes

import (
	"sync/atomic"

	"sonde/arch/amd64"
	"sonde/kernel/notifier"
	"sonde/kprobes"
	"sonde/ktest/suites"
)

func init() {
	suites.Add("kprobes/flags_behind_a_step_are_the_codes", flagsBehindStep)
	suites.Add("kprobes/flags_of_a_fault_in_a_step_are_the_codes", flagsOfFault)
}

// flagsBehindStep compares the flags at the next instruction with and without a step
// in front of it. A TF that is left on makes a #DB that nothing takes, and is gone then.
func flagsBehindStep(t *suites.T) {
	s := movAbs(t)
	var flags atomic.Uint64
	next := arm(t, &kprobes.Kprobe{Addr: s.Entry + 10, PostHandler: postNothing,
		PreHandler: func(_ *kprobes.Kprobe, r *amd64.Regs) int { flags.Store(r.Flags); return 0 }})
	defer kprobes.UnregisterKprobe(next)
	var seen [2]uint64
	for i := range seen {
		if i == 1 {
			defer kprobes.UnregisterKprobe(arm(t, &kprobes.Kprobe{Addr: s.Entry, PostHandler: postNothing}))
		}
		_, err := s.Run()
		t.Must(err)
		seen[i] = flags.Load()
	}
	if seen[0] != seen[1] || seen[0]&amd64.RFLAGS_TF != 0 {
		t.Errorf("flags %#x behind a step, %#x without one", seen[1], seen[0])
	}
}

// flagsOfFault does the same with an instruction that faults: the chain sees its flags.
func flagsOfFault(t *suites.T) {
	var flags atomic.Uint64
	below := &notifier.Block{Name: "test", Priority: 50, Call: func(r *amd64.Regs, _ uint64) notifier.Action {
		flags.Store(r.Flags)
		return notifier.Next
	}}
	notifier.Die[amd64.VEC_PF].Register(below)
	defer notifier.Die[amd64.VEC_PF].Unregister(below)
	faulting()
	want := flags.Load()
	defer kprobes.UnregisterKprobe(arm(t, &kprobes.Kprobe{SymbolName: dereferenceName, Offset: load(t), PostHandler: postNothing}))
	faulting()
	if got, step := flags.Load(), uint64(amd64.RFLAGS_TF|amd64.RFLAGS_IF); got&step != want&step {
		t.Errorf("flags %#x in a step, %#x without one", got, want)
	}
}
