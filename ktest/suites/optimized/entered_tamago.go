//go:build tamago

package optimized

import (
	"sonde/arch/amd64"
	"sonde/kprobes"
	"sonde/ktest/suites"
	"sonde/ktest/suites/targets"
)

func init() {
	suites.Add("optimized/return_probes_leave_everything_alone", leaveAlone)
	suites.Add("optimized/return_probes_leave_everything_alone_inside_a_handler", leaveAloneInHandler)
	suites.Add("optimized/return_probe_joined_by_others", joined)
	suites.Add("optimized/return_handlers_change_flags", changedByReturn)
	suites.Add("optimized/flags_changed_beside_a_return_probe", changedBeside)
	suites.Add("optimized/return_probe_without_free_instances", noneFree)
}

// onShape registers a return probe on s that is entered and left by the short ways; nil if s cannot
// have one.
func onShape(t *suites.T, s *targets.Shape) *kprobes.Kretprobe {
	rp := &kprobes.Kretprobe{KP: kprobes.Kprobe{Addr: s.Entry}, Handler: ret}
	if kprobes.RegisterKretprobe(rp) != nil {
		return nil
	}
	optimize(t)
	if !kprobes.Optimized(s.Entry) {
		kprobes.UnregisterKretprobe(rp)
		return nil
	}
	return rp
}

// leaveAlone runs every shape with a return probe. The inputs have every flag set and clear and a
// different value in each register.
func leaveAlone(t *suites.T) {
	t.OneProcessor()
	done := 0
	for _, s := range targets.Shapes() {
		if s.Name == "retImm" {
			continue // it looks at its return address
		}
		want, err := s.Run()
		t.Must(err)
		rp := onShape(t, &s)
		if rp == nil {
			continue
		}
		got, err := s.Run()
		t.Must(err)
		kprobes.UnregisterKretprobe(rp)
		settled(t, rp)
		suites.Equal(t, s.Name+" returns", rp.Hits(), uint64(s.Inputs()))
		for i := range got {
			if d := got[i].Diff(&want[i]); d != "" {
				t.Errorf("%s, input %d: %s", s.Name, i, d)
			}
		}
		done++
	}
	clean(t)
	t.Logf("%d shapes", done)
	if done < 20 {
		t.Errorf("too few")
	}
}

// inHandler is the result of a shape that a handler ran.
var inHandler targets.Result

// leaveAloneInHandler runs some inside a handler, where the call must be missed.
func leaveAloneInHandler(t *suites.T) {
	t.OneProcessor()
	for _, name := range []string{"pushf", "popf", "direction", "carry", "movAbs", "nops"} {
		s := shape(t, name)
		want, err := s.Run()
		t.Must(err)
		rp := onShape(t, s)
		if rp == nil {
			t.Fatalf("%s is not optimized", name)
		}
		for i := range want {
			k := at(entry(targets.Leaf), func(*kprobes.Kprobe, *amd64.Regs) int { inHandler = s.Prepared(); return 0 })
			optimized(t, k)
			s.Prepare(i)
			suites.Equal(t, "Leaf", targets.Leaf(1, 1), 4)
			kprobes.UnregisterKprobe(k)
			account(t, k, name, 1, 0)
			if d := inHandler.Diff(&want[i]); d != "" {
				t.Errorf("%s, input %d: %s", name, i, d)
			}
		}
		kprobes.UnregisterKretprobe(rp)
		settled(t, rp)
		suites.Equal(t, name+" missed", rp.Ledger().Recursion, uint64(len(want)))
		suites.Equal(t, name+" returns", rp.Hits(), 0)
	}
	clean(t)
}

// joined adds other probes to a return probe's entry, whose detour is for that probe
// alone, and takes them away again.
func joined(t *suites.T) {
	rps, remove := onReturn(t, 4, targets.Leaf)
	calls := uint64(0)
	call := func(n int) {
		for range n {
			suites.Equal(t, "Leaf", targets.Leaf(1, 1), 4)
			calls++
		}
	}
	call(3)
	k := at(entry(targets.Leaf), pre)
	optimized(t, k)
	call(5)
	second := &kprobes.Kretprobe{KP: kprobes.Kprobe{Addr: k.Addr}, Handler: ret, EntryHandler: ret}
	t.Must(kprobes.RegisterKretprobe(second))
	optimize(t)
	call(7)
	kprobes.UnregisterKretprobe(second)
	t.Must(kprobes.DisableKretprobe(rps[0]))
	optimize(t)
	call(1)
	disabled := uint64(1)
	t.Must(kprobes.EnableKretprobe(rps[0]))
	kprobes.UnregisterKprobe(k)
	optimize(t)
	hasJump(t, "alone again", k.Addr)
	call(2)
	suites.Equal(t, "hits of the kprobe", k.Hits(), 5+7+1)
	suites.Equal(t, "returns of the second", second.Hits(), 7)
	suites.Equal(t, "returns of the first", rps[0].Hits(), calls-disabled)
	remove()
}

// changedByReturn: the trampoline returns with a RET, or with an IRETQ.
func changedByReturn(t *suites.T) {
	s := shape(t, "pushf")
	rp := &kprobes.Kretprobe{KP: kprobes.Kprobe{Addr: s.Entry},
		Handler: func(_ *kprobes.KretprobeInstance, r *amd64.Regs) int { changeFlags(r); return 0 }}
	t.Must(kprobes.RegisterKretprobe(rp))
	optimize(t)
	flagsChange(t, s, func(r *targets.Result) uint64 { return r.Flags })
	kprobes.UnregisterKretprobe(rp)
	settled(t, rp)
	clean(t)
}

// changedBeside is about a handler that changes flags, and whose hits come by the detour
// that was made for a return probe alone.
func changedBeside(t *suites.T) {
	s := shape(t, "pushf")
	rp := onShape(t, s)
	k := at(s.Entry, func(_ *kprobes.Kprobe, r *amd64.Regs) int { changeFlags(r); return 0 })
	optimized(t, k)
	flagsChange(t, s, before)
	kprobes.UnregisterKprobe(k)
	kprobes.UnregisterKretprobe(rp)
	settled(t, rp)
	clean(t)
}

// nested calls itself n times.
//
//go:noinline
func nested(n int) int {
	if n == 0 {
		return 0
	}
	return 1 + nested(n-1)
}

// noneFree keeps more calls in flight than there are instances.
func noneFree(t *suites.T) {
	rps, remove := onReturn(t, 3, nested)
	const depth = 9
	if got := nested(depth); got != depth {
		t.Errorf("nested returns %d", got)
	}
	l := rps[0].Ledger()
	suites.Equal(t, "calls", l.Entered, depth+1)
	suites.Equal(t, "returns", l.Handled, 3)
	suites.Equal(t, "calls without instance", l.NoInst, depth+1-3)
	remove()
}
