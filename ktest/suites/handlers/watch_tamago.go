//go:build tamago

package handlers

import (
	"sync/atomic"

	"sonde/arch/amd64"
	"sonde/arch/amd64/trap"
	"sonde/kernel/cpu"
	"sonde/kernel/irq"
	"sonde/kernel/notifier"
	"sonde/kernel/smp"
	"sonde/kprobes"
	"sonde/ktest/suites"
	"sonde/ktest/suites/targets"
	"sonde/optprobe"
)

func init() {
	suites.Add("handlers/loop_on_all_cpus_at_once", func(t *suites.T) { allLoop(t, false) })
	suites.Add("handlers/loop_on_all_cpus_at_once_by_a_jump", func(t *suites.T) { allLoop(t, true) })
	suites.Add("handlers/loop_that_wakes_a_thread", wakesForEver)
	suites.Add("handlers/loop_whose_end_waits_for_an_interrupt", endsAfterInterrupt)
	suites.Add("handlers/fault_of_an_interrupt_on_top_of_one", faultOnTop)
	suites.Add("handlers/machine_check_in_one", machineCheck)
}

// allLoop makes one handler loop on all CPUs at once: only an NMI can still reach them. The machine
// used to hang.
func allLoop(t *suites.T, jump bool) {
	defer limit(t, "500")()
	defer suites.NoCollection()() // a CPU that waits for its end would come too late
	n := int32(cpu.Num())
	var inside, passed atomic.Int32
	k := &kprobes.Kprobe{Addr: entry(victim), PreHandler: func(*kprobes.Kprobe, *amd64.Regs) int {
		inside.Add(1)
		for end := cpu.Nanotime() + 20e9; inside.Load() < n && cpu.Nanotime() < end; {
			cpu.Pause()
		}
		loop()
		passed.Add(1)
		return 0
	}}
	if !jump {
		k.PostHandler = func(*kprobes.Kprobe, *amd64.Regs, uint64) {}
	}
	since := suites.Mark()
	t.Must(kprobes.RegisterKprobe(k))
	if t.Must(optprobe.Optimize()); kprobes.Optimized(k.Addr) != jump {
		t.Fatalf("optimized: %v, want %v", !jump, jump)
	}
	t.Together(func(i int) { suites.Equal(t, "victim", victim(uint64(i)), uint64(i)*3+3) })
	kprobes.UnregisterKprobe(k)
	if inside.Load() != n || passed.Load() != 0 {
		t.Errorf("%d handlers began, %d ended; want %d and none", inside.Load(), passed.Load(), n)
	}
	if l := k.Ledger(); l.Abandoned != uint64(n) || l.Unexplained() != 0 {
		t.Errorf("account %+v", l)
	}
	if n := suites.Logged(since, "abandoned: ", "runs too long"); n != 1 {
		t.Errorf("%d reports", n)
	}
	isWell(t, "afterwards")
}

// wakesForEver makes a handler wake a thread without end, which takes the lock of the
// scheduler of threads each time. The machine used to hang when the handler was ended
// while it held the lock.
func wakesForEver(t *suites.T) {
	defer limit(t, "50")()
	var events [1024]irq.Event
	for range suites.Rounds(12, 20) {
		b := badKprobe(&kprobes.Kprobe{PreHandler: func(*kprobes.Kprobe, *amd64.Regs) int {
			for end := cpu.Nanotime() + 20e9; cpu.Nanotime() < end; {
				for i := range events {
					events[i].Wake()
				}
				clear(events[:]) // an event that is woken already would do nothing
			}
			return 0
		}})
		t.Must(b.register())
		suites.Equal(t, "victim", victim(2), 9)
		b.unregister()
		suites.Equal(t, "Abandoned", b.ledger().Abandoned, 1)
	}
	goesOn(t)
}

// endsAfterInterrupt lets an interrupt come while a handler loops, and takes long to acknowledge it: as at the
// beginning of any interrupt, the trap layer does not know of it. The handler used to be ended with it, and
// its CPU took no interrupts of that class any more.
func endsAfterInterrupt(t *suites.T) {
	const vector = amd64.VecTimer - 1
	defer limit(t, "50")()
	var ended atomic.Int32
	trap.SetHandler(vector, func(*amd64.Regs) {
		for end := cpu.Nanotime() + 5e8; cpu.Nanotime() < end; {
			cpu.Pause()
		}
		cpu.EOI()
		ended.Add(1)
	})
	b := badKprobe(&kprobes.Kprobe{PreHandler: func(*kprobes.Kprobe, *amd64.Regs) int {
		cpu.SendIPI(cpu.ID(), vector)
		loop()
		return 0
	}})
	t.Must(b.register())
	t.Must(optprobe.Optimize()) // so that it runs with interrupts on
	suites.Equal(t, "victim", victim(2), 9)
	b.unregister()
	if n, l := ended.Load(), b.ledger(); n != 1 || l.Abandoned != 1 {
		t.Fatalf("%d interrupts ended, want 1; the probe's account %+v", n, l)
	}
	defer smp.TickEvery(1e6)()
	for id := range cpu.Num() {
		was := trap.Count(id, amd64.VecTimer)
		t.Until("a timer interrupt on each CPU", func() bool { return trap.Count(id, amd64.VecTimer) > was })
	}
}

// faultOnTop makes an interrupt come on top of a handler, and fault. That is not the
// handler's fault: it used to be abandoned for it.
func faultOnTop(t *suites.T) {
	var faults, ended atomic.Int32
	fixing := notifier.Block{Name: "test", Priority: 1, Call: func(r *amd64.Regs, _ uint64) notifier.Action {
		faults.Add(1)
		r.IP += 2 // after UD2
		return notifier.Stop
	}}
	notifier.Die[amd64.VEC_UD].Register(&fixing)
	defer notifier.Die[amd64.VEC_UD].Unregister(&fixing)
	trap.SetInterrupt(0x90, func(*amd64.Regs) { trap.InvalidOpcode() })
	b := badKprobe(&kprobes.Kprobe{PreHandler: func(*kprobes.Kprobe, *amd64.Regs) int {
		targets.RaiseInt90()
		ended.Add(1)
		return 0
	}})
	t.Must(b.register())
	for _, jump := range []bool{false, true} {
		if jump {
			t.Must(optprobe.Optimize())
		}
		for i := range uint64(10) {
			suites.Equal(t, "victim", victim(i), i*3+3)
		}
	}
	b.unregister()
	if faults.Load() != 20 || ended.Load() != 20 {
		t.Errorf("%d faults, %d handlers ended, want 20 each", faults.Load(), ended.Load())
	}
	if l := b.ledger(); l.Abandoned != 0 || l.Handled != 20 {
		t.Errorf("account %+v", l)
	}
}

// machineCheck makes the processor fail while a handler runs. That is not the handler's fault: it used to be
// abandoned for it, and the kernel continued.
func machineCheck(t *suites.T) {
	var checks, fixed atomic.Int32
	last := notifier.Block{Name: "test", Priority: -1000, Call: func(*amd64.Regs, uint64) notifier.Action {
		checks.Add(1)
		return notifier.Stop
	}}
	notifier.Die[amd64.VEC_MC].Register(&last)
	defer notifier.Die[amd64.VEC_MC].Unregister(&last)
	b := badKprobe(&kprobes.Kprobe{
		PreHandler:   func(*kprobes.Kprobe, *amd64.Regs) int { targets.RaiseMachineCheck(); return 0 },
		FaultHandler: func(*kprobes.Kprobe, *amd64.Regs, int) int { fixed.Add(1); return 1 },
	})
	t.Must(b.register())
	suites.Equal(t, "victim", victim(2), 9)
	b.unregister()
	suites.Equal(t, "machine checks", checks.Load(), 1)
	suites.Equal(t, "those that the probe was told of", fixed.Load(), 0)
	if l := b.ledger(); l.Abandoned != 0 || l.Handled != 1 {
		t.Errorf("account %+v", l)
	}
}
