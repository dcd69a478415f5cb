//go:build tamago

package optimized

import (
	"errors"
	"runtime"
	"sync/atomic"
	"syscall"
	"time"

	"sonde/kernel/vfs"
	"sonde/kprobes"
	"sonde/kprobes/detour"
	"sonde/ktest/suites"
	"sonde/ktest/suites/targets"
	"sonde/optprobe"
	"sonde/sysctl"
)

func init() {
	suites.Add("optimized/jump_goes_in_and_out", inAndOut)
	suites.Add("optimized/optimizer_works_by_itself", byItself)
	suites.Add("optimized/optimize_waits_for_what_others_began", waitsForOthers)
	suites.Add("optimized/sysctl_takes_jumps_out_and_back", sysctlToggles)
	suites.Add("optimized/sysctl_refuses_other_values", sysctlRefuses)
	suites.Add("optimized/sysctl_off_wins_a_race", offWins)
	suites.Add("optimized/detours_are_used_again", usedAgain)
}

// inAndOut looks at the bytes, the list and the count at each step.
func inAndOut(t *suites.T) {
	const calls = 1000
	for _, f := range []any{targets.Leaf, targets.Small, targets.Medium, targets.Large} {
		k := at(entry(f), pre)
		before := optprobe.Counts()
		optimized(t, k)
		if s := listed(t, k.Addr); s != "[OPTIMIZED]" {
			t.Errorf("%s is listed as %q", name(k.Addr), s)
		}
		if n := optprobe.Counts(); n.Jumps != before.Jumps+1 || n.Stops != before.Stops+1 || n.Detours != 1 {
			t.Errorf("counts go from %+v to %+v", before, n)
		}
		addr := k.Addr
		for i := range uint64(calls) {
			callOne(t, f, i)
		}
		kprobes.UnregisterKprobe(k)
		account(t, k, name(addr), calls, 0)
		restored(t, "unregistered", addr)
		clean(t)
	}
}

// callOne calls one of the targets and checks its result.
func callOne(t *suites.T, f any, i uint64) {
	switch f := f.(type) {
	case func(uint64, uint64) uint64:
		suites.Equal(t, "Leaf", f(i, 1), 3*i+1)
	case func(uint64) uint64:
		var want uint64 // not from the function itself, which is probed
		switch entry(f) {
		case entry(targets.Small):
			want = 6*i + 3
		case entry(targets.Medium):
			want = 3*i + i%100 + 3*i + 99
		default:
			want = 3*i + i%10 + 3*i + 9
		}
		suites.Equal(t, "result", f(i), want)
	}
}

// byItself waits for the thread.
func byItself(t *suites.T) {
	k := at(entry(targets.Leaf), pre)
	register(t, k)
	t.Until("the optimizer", func() bool { time.Sleep(time.Millisecond); return kprobes.Optimized(k.Addr) })
	hasJump(t, "after a while", k.Addr)
	targets.Leaf(1, 2)
	kprobes.UnregisterKprobe(k)
	account(t, k, "Leaf", 1, 0)
	clean(t)
}

// waitsForOthers optimizes from two goroutines while the thread does, too. The second of them used
// to return at once, before the first had put the jump in.
func waitsForOthers(t *suites.T) {
	rounds := suites.Rounds(60, 60)
	early := 0
	for range rounds {
		k := at(entry(targets.Leaf), pre)
		register(t, k)
		var asked, late atomic.Int32
		for range 2 {
			t.Go(func() {
				asked.Add(1)
				for asked.Load() < 2 {
					runtime.Gosched()
				}
				optimize(t)
				if !kprobes.Optimized(k.Addr) {
					late.Add(1)
				}
			})
		}
		t.Wait()
		if late.Load() > 0 {
			early++
		}
		kprobes.UnregisterKprobe(k)
	}
	if early > 0 {
		t.Errorf("Optimize came back too early in %d of %d rounds", early, rounds)
	}
	clean(t)
}

// sysctlToggles writes the switch in every way that is accepted.
func sysctlToggles(t *suites.T) {
	defer setSysctl(t, "1")
	write := func(v string) func() error { return func() error { return vfs.WriteFile(sysctlFile, []byte(v+"\n")) } }
	set := func(name, v string) func() error { return func() error { return sysctl.Set(name, v) } }
	for _, ways := range [][2]func() error{
		{write("0"), write("1")},
		{set(sysctlName, "0"), set(sysctlName, "1")},
		{set("debug.kprobes_optimization", "n"), set("debug.kprobes_optimization", "y")},
		{set("debug/kprobes-optimization", "N"), set("debug/kprobes_optimization", "Y")},
	} {
		old, late := at(entry(targets.Leaf), pre), at(entry(targets.Nine), pre)
		optimized(t, old)
		t.Must(ways[0]())
		register(t, late)
		optimize(t)
		time.Sleep(3 * time.Millisecond) // for the thread, which must not write a jump either
		haveBreakpoints(t, "switched off", old, late)
		for _, k := range []*kprobes.Kprobe{old, late} {
			if s := listed(t, k.Addr); s != "" {
				t.Errorf("switched off: %s is listed as %q", name(k.Addr), s)
			}
		}
		targets.Leaf(1, 2)
		t.Must(ways[1]())
		t.Until("the jumps to come back", func() bool { return kprobes.Optimized(old.Addr) && kprobes.Optimized(late.Addr) })
		hasJump(t, "switched on", old.Addr)
		hasJump(t, "switched on", late.Addr)
		targets.Leaf(1, 2)
		kprobes.UnregisterKprobes([]*kprobes.Kprobe{old, late})
		account(t, old, "Leaf", 2, 0)
	}
	clean(t)
}

func sysctlRefuses(t *suites.T) {
	for _, v := range []string{"2", "-1", "", "yes", "on", "0 1", "01"} {
		if err := vfs.WriteFile(sysctlFile, []byte(v+"\n")); !errors.Is(err, syscall.EINVAL) {
			t.Errorf("writing %q to %s: %v, want EINVAL", v, sysctlFile, err)
		}
		if err := sysctl.Set(sysctlName, v); !errors.Is(err, syscall.EINVAL) {
			t.Errorf("setting it to %q: %v, want EINVAL", v, err)
		}
	}
	b, err := vfs.ReadFile(sysctlFile)
	if err != nil || string(b) != "1\n" {
		t.Errorf("%s reads %q, %v", sysctlFile, b, err)
	}
}

// offWins switches off while the optimizer is at work. It used to look at the
// switch only at its beginning, and then put jumps in after all had been taken
// out.
func offWins(t *suites.T) {
	t.SeveralProcessors()
	defer setSysctl(t, "1")
	k := at(entry(targets.Leaf), pre)
	register(t, k)
	for i := range 200 {
		setSysctl(t, "1")
		var begun atomic.Bool
		t.Go(func() { begun.Store(true); optimize(t) })
		for !begun.Load() {
			runtime.Gosched()
		}
		time.Sleep(time.Duration(i) * 2 * time.Microsecond)
		setSysctl(t, "0")
		t.Wait()
		if kprobes.Optimized(k.Addr) {
			t.Errorf("a jump is there although they are switched off")
			break
		}
	}
	kprobes.UnregisterKprobe(k)
	clean(t)
}

// usedAgain uses more detours than there are, some at a time.
func usedAgain(t *suites.T) {
	t.OneProcessor()
	most := int(kprobes.Detours().End()-kprobes.Detours().Start()) / detour.Size
	used, rounds := 0, 0
	for ; used <= most+100; rounds++ {
		var ks []*kprobes.Kprobe
		for _, s := range targets.Shapes() {
			ks = append(ks, at(s.Entry, pre))
		}
		register(t, ks...)
		optimize(t)
		n := jumped(ks)
		kprobes.UnregisterKprobes(ks)
		if used += n; n < 20 {
			t.Fatalf("round %d: only %d of %d optimized, after %d", rounds, n, len(ks), used)
		}
	}
	t.Logf("%d detours of %d in %d rounds", used, most, rounds)
	clean(t)
}
