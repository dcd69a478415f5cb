//go:build tamago

package optimized

import (
	"sync/atomic"
	"time"

	"sonde/arch/amd64"
	"sonde/arch/amd64/trap"
	"sonde/kernel/cpu"
	"sonde/kprobes"
	"sonde/ktest/suites"
)

func init() {
	suites.Add("optimized/probes_below_a_handler_are_missed_exactly", missedExactly)
	suites.Add("optimized/interrupts_come_in_a_handler", interruptsCome)
	suites.Add("optimized/functions_of_interrupt_handlers", interruptHandlers)
}

// missedExactly makes handlers, called by a jump, by a breakpoint and at a return,
// call an optimized function.
func missedExactly(t *suites.T) {
	const calls = 200
	var wrong atomic.Uint64
	visit := func() {
		if bystander(6) != 15 {
			wrong.Add(1)
		}
	}
	below, rbelow := at(entry(bystander), pre), &kprobes.Kretprobe{KP: kprobes.Kprobe{Addr: entry(bystander)}, Handler: ret, MaxActive: 64}
	register(t, below)
	t.Must(kprobes.RegisterKretprobe(rbelow))
	jump := at(entry(victim), func(*kprobes.Kprobe, *amd64.Regs) int { visit(); return 0 })
	rp := &kprobes.Kretprobe{KP: kprobes.Kprobe{Addr: entry(victim)}, MaxActive: 64,
		EntryHandler: func(*kprobes.KretprobeInstance, *amd64.Regs) int { visit(); return 0 },
		Handler:      func(*kprobes.KretprobeInstance, *amd64.Regs) int { visit(); return 0 }}
	t.Must(kprobes.RegisterKretprobe(rp))
	optimized(t, jump)
	hasJump(t, "below", below.Addr)
	visits := uint64(0)
	for _, breakpoint := range []bool{false, true} {
		if breakpoint {
			jump.PostHandler = func(*kprobes.Kprobe, *amd64.Regs, uint64) { visit() }
			kprobes.UnregisterKprobe(jump)
			account(t, jump, "victim", calls*uint64(cpu.Num()), 0)
			jump.Addr = entry(victim)
			register(t, jump)
			hasNone(t, "with a post-handler", jump.Addr)
			visits += calls * uint64(cpu.Num())
		}
		t.Together(func(int) {
			for i := range uint64(calls) {
				suites.Equal(t, "victim", victim(i), 3*i+3)
			}
		})
		visits += 3 * calls * uint64(cpu.Num())
	}
	kprobes.UnregisterKretprobe(rp)
	kprobes.UnregisterKretprobe(rbelow)
	kprobes.UnregisterKprobes([]*kprobes.Kprobe{jump, below})
	account(t, below, "below", 0, visits)
	suites.Equal(t, "return probe below", rbelow.KP.NMissed(), visits)
	settled(t, rbelow)
	settled(t, rp)
	suites.Equal(t, "wrong results in handlers", wrong.Load(), 0)
	clean(t)
}

// interruptsCome makes a handler send its own CPU an interrupt, whose function is
// probed as well, and call a third probed function: all of that is nested.
func interruptsCome(t *suites.T) {
	const calls = 300
	var lost, odd atomic.Uint64
	wake, third := at(uintptr(t.Function("sonde/kernel/irq.wake").Addr), pre), at(entry(bystander), pre)
	outer := at(entry(victim), func(*kprobes.Kprobe, *amd64.Regs) int {
		id := cpu.ID()
		n := trap.Count(id, amd64.VecWake)
		cpu.SendIPI(id, amd64.VecWake)
		for end := cpu.Nanotime() + 100e6; trap.Count(id, amd64.VecWake) == n; {
			if bystander(6) != 15 || cpu.ID() != id {
				odd.Add(1)
			}
			if cpu.Nanotime() > end {
				lost.Add(1)
				break
			}
		}
		return 0
	})
	optimized(t, outer, wake, third)
	t.Together(func(int) {
		for i := range uint64(calls) {
			suites.Equal(t, "victim", victim(i), 3*i+3)
		}
	})
	kprobes.UnregisterKprobes([]*kprobes.Kprobe{outer, wake, third})
	n := calls * uint64(cpu.Num())
	account(t, outer, "outer", n, 0)
	l := wake.Ledger()
	if l.Recursion < n-lost.Load() || l.Unexplained() != 0 {
		t.Errorf("the interrupt's probe: %+v, unexplained %d, want at least %d nested", l, l.Unexplained(), n)
	}
	account(t, third, "third", 0, third.NMissed())
	suites.Equal(t, "wrong results in handlers", odd.Load(), 0)
	if lost.Load() > n/10 {
		t.Errorf("%d of %d interrupts did not come in the handler", lost.Load(), n)
	}
	clean(t)
}

// interruptHandlers puts jumps into what every interrupt calls.
func interruptHandlers(t *suites.T) {
	names := []string{"sonde/kernel/irq.timer", "sonde/kernel/irq.wake", "sonde/kernel/cpu.Nanotime"}
	var all []*kprobes.Kprobe
	for _, name := range names {
		k := at(uintptr(t.Function(name).Addr), pre)
		if err := kprobes.RegisterKprobe(k); err != nil {
			t.Logf("%v", err)
			continue
		}
		all = append(all, k)
	}
	optimize(t)
	n := 0
	for _, k := range all {
		if kprobes.Optimized(k.Addr) {
			n++
		}
	}
	t.Until("interrupts", func() bool {
		time.Sleep(time.Millisecond)
		return all[0].Hits() > 50
	})
	kprobes.UnregisterKprobes(all)
	for _, k := range all {
		account(t, k, "interrupt", k.Hits(), k.NMissed())
	}
	if n < 2 {
		t.Errorf("only %d of %d optimized", n, len(names))
	}
	clean(t)
}
