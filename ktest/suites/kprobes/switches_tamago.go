//go:build tamago

package kprobes

import (
	"slices"
	"sync/atomic"
	"time"

	"sonde/arch/amd64"
	"sonde/kernel/die"
	"sonde/kprobes"
	"sonde/ktest/suites"
)

func init() {
	suites.Add("kprobes/every_boundary_of_the_stack_switches", everySwitch)
	suites.Add("kprobes/bad_handlers_in_the_stack_switches", badSwitch)
	suites.Add("kprobes/jprobes_on_the_stack_switches", jprobeSwitch)
}

// switches are the functions in which, for some instructions, SP is on the stack
// of one goroutine and g is another.
var switches = []string{"runtime.systemstack.abi0", "runtime.mcall", "gogo"}

// atEach returns a probe on each instruction of functions, with a post-handler
// where post is set and that can be.
func atEach(t *suites.T, functions []string, pre func(*kprobes.Kprobe, *amd64.Regs) int, post bool) (all []*kprobes.Kprobe) {
	for _, name := range functions {
		fn := t.Function(name)
		offs, list := boundaries(t, fn)
		for i, off := range offs {
			k := &kprobes.Kprobe{Addr: uintptr(fn.Addr) + off, PreHandler: pre}
			if post && list[i].Steppable() {
				k.PostHandler = postNothing
			}
			if list[i].Movable() == 0 {
				all = append(all, k)
			}
		}
	}
	return all
}

// everySwitch probes their instructions one at a time, and all at once long enough
// to be hit by jumps, while all CPUs switch. Where rounds are few, each third is probed
// alone.
func everySwitch(t *suites.T) {
	t.OneMachine()
	t.SeveralProcessors()
	end := startLoad(t)
	hit, every := 0, 3/suites.Rounds(3, 3)
	for _, post := range []bool{false, true} {
		all := atEach(t, switches, goOn, post)
		for i, k := range all {
			if i%every != 0 {
				continue
			}
			t.Must(kprobes.RegisterKprobe(k))
			switchAll()
			kprobes.UnregisterKprobe(k)
			expect(t, k, k.Hits(), k.NMissed())
			if k.Hits() > 0 {
				hit++
			}
		}
		all = atEach(t, switches, goOn, post)
		t.Must(kprobes.RegisterKprobes(all))
		time.Sleep(200 * time.Millisecond)
		kprobes.UnregisterKprobes(all)
		for _, k := range all {
			expect(t, k, k.Hits(), k.NMissed())
		}
	}
	end()
	clean(t)
	if t.Logf("%d probes were hit", hit); hit < 40/every {
		t.Errorf("too few")
	}
}

var leaked *[64]byte

// badSwitch makes a handler print the stack and then break the rules, at each of
// their instructions.
func badSwitch(t *suites.T) {
	t.OneMachine()
	t.SeveralProcessors()
	end := startLoad(t)
	abandoned := 0
	for i := range atEach(t, switches, goOn, false) {
		all := atEach(t, switches, func(_ *kprobes.Kprobe, r *amd64.Regs) int {
			die.DumpStack(r)
			leaked = new([64]byte)
			return 0
		}, false)
		k := all[i]
		if i%4 != 0 {
			continue
		}
		t.Must(kprobes.RegisterKprobe(k))
		switchAll()
		kprobes.UnregisterKprobe(k)
		if l := k.Ledger(); l.Unexplained() != 0 || l.Handled != 0 {
			t.Errorf("%#x: account %+v", k.Addr, l)
		}
		abandoned += int(k.Ledger().Abandoned)
	}
	end()
	clean(t)
	if t.Logf("%d handlers abandoned", abandoned); abandoned < 5 {
		t.Errorf("too few")
	}
}

// switchAll goes through what switches, however little of the load the host runs meanwhile: a goroutine
// is made on the system stack, and this one waits for it.
func switchAll() {
	time.Sleep(time.Millisecond)
	for range 10 {
		done := make(chan bool)
		go close(done)
		<-done
	}
}

// jprobeSwitch has a jprobe on each function that switches, first one at a time and then on all, while
// all CPUs switch. A handler has the trap's stack, whichever the function has.
func jprobeSwitch(t *suites.T) {
	t.OneMachine()
	end := startLoad(t)
	var hits [2]atomic.Uint64
	for round, size := range []int{1, len(switches)} {
		for names := range slices.Chunk(switches, size) {
			var all []*kprobes.Jprobe
			for _, name := range names {
				j := &kprobes.Jprobe{Entry: func() { hits[round].Add(1); kprobes.JprobeReturn() }}
				j.KP.Addr = uintptr(t.Function(name).Addr)
				all = append(all, j)
			}
			t.Must(kprobes.RegisterJprobes(all))
			for _, j := range all {
				t.Until("a hundred hits", func() bool { return j.KP.Hits() >= 100 })
			}
			kprobes.UnregisterJprobes(all)
			for _, j := range all {
				expect(t, &j.KP, j.KP.Hits(), j.KP.NMissed())
				hits[round].Add(-j.KP.Ledger().Handled)
			}
		}
	}
	end()
	clean(t)
	if a, b := hits[0].Load(), hits[1].Load(); a != 0 || b != 0 {
		t.Errorf("%d and %d calls of a handler are not counted", int64(a), int64(b))
	}
}

func goOn(*kprobes.Kprobe, *amd64.Regs) int { return 0 }
