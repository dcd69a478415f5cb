//go:build tamago

package optimized

import (
	"runtime"
	"sync/atomic"

	"sonde/arch/amd64"
	"sonde/arch/amd64/trap"
	"sonde/kernel/cpu"
	"sonde/kernel/goruntime"
	"sonde/kernel/vfs"
	"sonde/kprobes"
	"sonde/ktest/suites"
	"sonde/ktest/suites/targets"
	"sonde/probe/ledger"
)

func init() {
	suites.Add("optimized/several_probes_at_one_place", several)
	suites.Add("optimized/post_handler_takes_the_jump_out", postTakesOut)
	suites.Add("optimized/jprobe_takes_the_jump_out", jprobeTakesOut)
	suites.Add("optimized/stale_candidates_get_no_jump", staleCandidates)
	suites.Add("optimized/neighbour_takes_the_jump_out", neighbourTakesOut)
	suites.Add("optimized/disabled_probe_has_no_jump", disabled)
	suites.Add("optimized/enabled_file_takes_jumps_out", enabledFile)
	suites.Add("optimized/list_gets_shorter_during_a_hit", getsShorter)
	suites.Add("optimized/interrupt_with_a_return_probe_at_the_end_of_a_list", interruptAtTheEnd)
}

// several sets kprobes and a return probe at one entry: handlers are called in order of
// registration.
func several(t *suites.T) {
	const calls = 100
	var order [5]byte
	next := 0
	note := func(who byte) { order[next%5] = who; next++ }
	k := func(who byte) *kprobes.Kprobe {
		return at(entry(targets.Small), func(*kprobes.Kprobe, *amd64.Regs) int { note(who); return 0 })
	}
	a, b, c := k('a'), k('b'), k('c')
	rp := &kprobes.Kretprobe{KP: kprobes.Kprobe{Addr: entry(targets.Small)}, MaxActive: 4,
		EntryHandler: func(*kprobes.KretprobeInstance, *amd64.Regs) int { note('e'); return 0 },
		Handler:      func(*kprobes.KretprobeInstance, *amd64.Regs) int { note('r'); return 0 }}
	register(t, a)
	t.Must(kprobes.RegisterKretprobe(rp))
	register(t, b, c)
	optimize(t)
	hasJump(t, "four probes", a.Addr)
	for range calls {
		suites.Equal(t, "Small", targets.Small(7), 45)
		if string(order[:]) != "aebcr" {
			t.Fatalf("handlers called: %s", order[:])
		}
	}
	// One of them is disabled and another goes: the jump stays.
	t.Must(kprobes.DisableKprobe(b))
	kprobes.UnregisterKprobe(a)
	hasJump(t, "three probes, one of them disabled", c.Addr)
	for range calls {
		suites.Equal(t, "Small", targets.Small(7), 45)
	}
	kprobes.UnregisterKretprobe(rp)
	kprobes.UnregisterKprobes([]*kprobes.Kprobe{b, c})
	account(t, a, "a", calls, 0)
	account(t, b, "b", calls, calls)
	account(t, c, "c", 2*calls, 0)
	settled(t, rp)
	suites.Equal(t, "returns", rp.Hits(), 2*calls)
	clean(t)
}

// getsShorter unregisters the second of two kprobes while the handler of the first one runs. What is left, a kprobe and
// a return probe, has a short path, but not in this hit: the return probe is entered once.
func getsShorter(t *suites.T) {
	t.SeveralProcessors()
	const tries, wait = 20, 5e6 // ns
	seen := 0
	for range tries {
		var inside, gone atomic.Bool
		second := at(entry(victim), pre)
		first := at(entry(victim), func(*kprobes.Kprobe, *amd64.Regs) int {
			inside.Store(true)
			end := cpu.Nanotime() + wait
			for second.Flags.Has(^ledger.Flags(0)) && cpu.Nanotime() < end { // its flag goes first, and then it
			}
			if !second.Flags.Has(^ledger.Flags(0)) {
				gone.Store(true)
				for end := cpu.Nanotime() + wait/10; cpu.Nanotime() < end; {
				}
			}
			return 0
		})
		rp := &kprobes.Kretprobe{KP: kprobes.Kprobe{Addr: entry(victim)}, Handler: ret, MaxActive: 4}
		register(t, first, second)
		t.Must(kprobes.RegisterKretprobe(rp))
		optimize(t)
		hasJump(t, "three probes", first.Addr)
		t.Go(func() {
			for !inside.Load() {
				runtime.Gosched()
			}
			kprobes.UnregisterKprobe(second)
		})
		suites.Equal(t, "victim", victim(5), 18)
		t.Wait()
		suites.Equal(t, "returns", rp.Hits(), 1)
		kprobes.UnregisterKretprobe(rp)
		settled(t, rp)
		kprobes.UnregisterKprobe(first)
		account(t, first, "first", 1, 0)
		if gone.Load() {
			seen++
		}
	}
	t.Logf("%d of %d got shorter meanwhile", seen, tries)
	clean(t)
}

// goesAndComes makes a change that takes out the jump of k, on Small, and undoes it,
// which brings the jump back; each call in between is a hit.
func goesAndComes(t *suites.T, k *kprobes.Kprobe, change, undo func()) {
	optimized(t, k)
	const rounds = 10
	for range rounds {
		suites.Equal(t, "Small", targets.Small(7), 45)
		change()
		hasNone(t, "after the change", k.Addr)
		optimize(t)
		hasNone(t, "after the change", k.Addr)
		suites.Equal(t, "Small", targets.Small(7), 45)
		undo()
		optimize(t)
		hasJump(t, "after undoing it", k.Addr)
		suites.Equal(t, "Small", targets.Small(7), 45)
	}
	kprobes.UnregisterKprobe(k)
	account(t, k, "Small", 3*rounds, 0)
	clean(t)
}

func postTakesOut(t *suites.T) {
	t.OneMachine()
	var posts, pres uint64
	var other *kprobes.Kprobe
	goesAndComes(t, at(entry(targets.Small), pre), func() {
		other = at(entry(targets.Small), func(*kprobes.Kprobe, *amd64.Regs) int { pres++; return 0 })
		other.PostHandler = func(*kprobes.Kprobe, *amd64.Regs, uint64) { posts++ }
		register(t, other)
	}, func() { kprobes.UnregisterKprobe(other) })
	suites.Equal(t, "pre-handler calls", pres, 10)
	suites.Equal(t, "post-handler calls", posts, 10)
}

func jprobeTakesOut(t *suites.T) {
	t.OneMachine()
	var calls, sum uint64
	j := kprobes.NewJprobe(targets.Small, func(a uint64) uint64 {
		calls++
		sum += a
		kprobes.JprobeReturn()
		return 0
	})
	goesAndComes(t, at(entry(targets.Small), pre), func() {
		j.KP.Addr = entry(targets.Small)
		t.Must(kprobes.RegisterJprobe(j))
	}, func() { kprobes.UnregisterJprobe(j) })
	suites.Equal(t, "jprobe calls", calls, 10)
	suites.Equal(t, "their arguments", sum, 70)
}

// staleCandidates changes something after the optimizer has looked at a place and before it writes
// the jump. Then it must not write it; with a jprobe it used to, if the probe already had a detour.
func staleCandidates(t *suites.T) {
	t.OneMachine()
	j := kprobes.NewJprobe(targets.Small, func(uint64) uint64 { kprobes.JprobeReturn(); return 0 })
	withPost := &kprobes.Kprobe{Addr: entry(targets.Small), PostHandler: post}
	neighbour := at(entry(targets.Small)+boundaries(t, t.Containing(entry(targets.Small)))[1], pre)
	k := at(entry(targets.Small), pre)
	for _, c := range []struct {
		what         string
		change, undo func()
	}{
		{"a jprobe", func() { j.KP.Addr = k.Addr; t.Must(kprobes.RegisterJprobe(j)) }, func() { kprobes.UnregisterJprobe(j) }},
		{"a post-handler", func() { register(t, withPost) }, func() { kprobes.UnregisterKprobe(withPost) }},
		{"a neighbour", func() { register(t, neighbour) }, func() { kprobes.UnregisterKprobe(neighbour) }},
		{"a neighbour that has gone again", func() { register(t, neighbour); kprobes.UnregisterKprobe(neighbour) }, func() {}},
		{"a disabled probe", func() { t.Must(kprobes.DisableKprobe(k)) }, func() { t.Must(kprobes.EnableKprobe(k)) }},
		{"no probe", func() { kprobes.UnregisterKprobe(k) }, func() { k.Addr = entry(targets.Small); register(t, k) }},
		{"all probes off", func() { kprobes.SetEnabled(false) }, func() { kprobes.SetEnabled(true) }},
		{"the sysctl off", func() { setSysctl(t, "0") }, func() {}},
	} {
		optimized(t, k)
		kprobes.SetJumps(false)
		kprobes.SetJumps(true)
		list := kprobes.Candidates() // the thread comes a millisecond later, if at all
		c.change()
		if done, _, err := kprobes.Jump(list); done != 0 || err != nil {
			t.Errorf("%s: %d jumps, %v", c.what, done, err)
		}
		c.undo()
		setSysctl(t, "1")
		optimize(t)
		hasJump(t, "without "+c.what, k.Addr)
		kprobes.UnregisterKprobe(k)
		k.Addr = entry(targets.Small)
	}
	clean(t)
}

// neighbourTakesOut sets the second probe on each instruction that the detour covers, and on the
// first one after it: that one leaves the jump alone.
func neighbourTakesOut(t *suites.T) {
	t.OneMachine()
	offs := boundaries(t, t.Containing(entry(targets.Small)))
	for _, off := range offs[1:3] { // the comparison, JLS | the frame is made
		covered := off == offs[1]
		var other *kprobes.Kprobe
		if covered {
			goesAndComes(t, at(entry(targets.Small), pre), func() {
				other = at(entry(targets.Small)+off, pre)
				register(t, other)
			}, func() {
				kprobes.UnregisterKprobe(other)
				// More than one hit if the stack check fails at first: this is not the entry.
				account(t, other, "neighbour", max(1, other.Hits()), 0)
			})
			continue
		}
		k := at(entry(targets.Small), pre)
		optimized(t, k)
		other = at(entry(targets.Small)+off, pre)
		register(t, other)
		hasJump(t, "a probe behind the region", k.Addr)
		suites.Equal(t, "Small", targets.Small(7), 45)
		kprobes.UnregisterKprobes([]*kprobes.Kprobe{k, other})
		account(t, k, "Small", 1, 0)
		account(t, other, "behind", 1, 0)
	}
	clean(t)
}

func disabled(t *suites.T) {
	t.OneMachine()
	k := at(entry(targets.Leaf), pre)
	k.Flags = kprobes.FlagDisabled
	register(t, k)
	for range 10 {
		optimize(t)
		restored(t, "disabled", k.Addr)
		targets.Leaf(1, 2)
		t.Must(kprobes.EnableKprobe(k))
		optimize(t)
		hasJump(t, "enabled", k.Addr)
		targets.Leaf(1, 2)
		t.Must(kprobes.DisableKprobe(k))
		if s := listed(t, k.Addr); s != "[DISABLED]" {
			t.Errorf("listed as %q", s)
		}
	}
	kprobes.UnregisterKprobe(k)
	account(t, k, "Leaf", 10, 0)
	clean(t)
}

func enabledFile(t *suites.T) {
	t.OneMachine()
	const file = "/sys/kernel/debug/kprobes/enabled"
	k, off := at(entry(targets.Leaf), pre), at(entry(targets.Nine), pre)
	optimized(t, k)
	off.Flags = kprobes.FlagDisabled
	register(t, off)
	for range 10 {
		t.Must(vfs.WriteFile(file, []byte("0\n")))
		optimize(t)
		restored(t, "switched off", k.Addr)
		targets.Leaf(1, 2)
		t.Must(vfs.WriteFile(file, []byte("1\n")))
		optimize(t)
		hasJump(t, "switched on", k.Addr)
		restored(t, "disabled", off.Addr)
		targets.Leaf(1, 2)
	}
	kprobes.UnregisterKprobes([]*kprobes.Kprobe{k, off})
	account(t, k, "Leaf", 10, 0)
	clean(t)
}

// vecBystander is an interrupt whose handler calls bystander.
const vecBystander = 0x91

// interruptAtTheEnd sends interrupts, in which a kprobe and a return probe are hit, to a CPU that hits a list: wherever one
// comes, the return probe is entered for its own calls alone.
func interruptAtTheEnd(t *suites.T) {
	t.SeveralProcessors()
	if cpu.Num() == 1 {
		t.Skipf("one CPU: no other sends interrupts")
	}
	list := []*kprobes.Kprobe{at(entry(victim), pre), at(entry(victim), pre)}
	inside := at(entry(bystander), pre)
	rp := &kprobes.Kretprobe{KP: kprobes.Kprobe{Addr: entry(bystander)}, Handler: ret, MaxActive: 64}
	register(t, list...)
	register(t, inside)
	t.Must(kprobes.RegisterKretprobe(rp))
	optimize(t)
	hasJump(t, "two kprobes", entry(victim))
	hasJump(t, "a kprobe and a return probe", entry(bystander))
	var came, wrong atomic.Uint64
	var stop atomic.Bool
	trap.SetHandler(vecBystander, func(*amd64.Regs) {
		cpu.EOI()
		if bystander(6) != 15 {
			wrong.Add(1)
		}
		came.Add(1)
	})
	t.Go(func() {
		for !stop.Load() {
			if goruntime.Bind(1 << 1); victim(5) != 18 {
				wrong.Add(1)
			}
		}
	})
	sent := uint64(0)
	for rounds := uint64(suites.Rounds(1_500, 200_000)); sent < rounds; {
		goruntime.Bind(1 << 0)
		cpu.SendIPI(1, vecBystander)
		for sent++; came.Load() != sent; {
			cpu.Pause()
		}
	}
	stop.Store(true)
	t.Wait()
	kprobes.UnregisterKretprobe(rp)
	kprobes.UnregisterKprobes(append(list, inside))
	settled(t, rp)
	if n := rp.Hits() + rp.NMissed() + rp.KP.NMissed(); n != sent || wrong.Load() != 0 {
		t.Errorf("%d interrupts, %d calls with a return probe, %d wrong results", sent, n, wrong.Load())
	}
	clean(t)
}
