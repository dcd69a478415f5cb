//go:build tamago

package handlers

import (
	"sync/atomic"

	"sonde/arch/amd64"
	"sonde/kernel/cpu"
	"sonde/kprobes"
	"sonde/ktest/suites"
)

func init() {
	suites.Add("handlers/probes_below_a_handler_are_missed_exactly", missedExactly)
	suites.Add("handlers/fault_handler_that_faults", faultyFaultHandler)
	suites.Add("handlers/run_on_several_cpus_at_once", atOnce)
}

// missedExactly makes every handler of victim call bystander, where there is a probe of each kind:
// none of their handlers is called, each miss is counted.
func missedExactly(t *suites.T) {
	const calls = 100
	var wrong atomic.Uint64
	visit := func() {
		if bystander(6) != 15 {
			wrong.Add(1)
		}
	}
	k := &kprobes.Kprobe{Addr: entry(victim),
		PreHandler:  func(*kprobes.Kprobe, *amd64.Regs) int { visit(); return 0 },
		PostHandler: func(*kprobes.Kprobe, *amd64.Regs, uint64) { visit() }}
	rp := &kprobes.Kretprobe{KP: kprobes.Kprobe{Addr: entry(victim)}, MaxActive: 64,
		EntryHandler: func(*kprobes.KretprobeInstance, *amd64.Regs) int { visit(); return 0 },
		Handler:      func(*kprobes.KretprobeInstance, *amd64.Regs) int { visit(); return 0 }}
	j := kprobes.NewJprobe(victim, func(uint64) uint64 { visit(); kprobes.JprobeReturn(); return 0 })
	t.Must(kprobes.RegisterKprobe(k))
	t.Must(kprobes.RegisterKretprobe(rp))
	t.Must(kprobes.RegisterJprobe(j))
	below := newGood(t, bystander, true)
	t.Together(func(int) {
		for i := range uint64(calls) {
			suites.Equal(t, "victim", victim(i), i*3+3)
		}
	})
	kprobes.UnregisterJprobe(j)
	kprobes.UnregisterKretprobe(rp)
	kprobes.UnregisterKprobe(k)
	want := uint64(5 * calls * cpu.Num())
	suites.Equal(t, "kprobe's NMissed", below.k.NMissed(), want)
	suites.Equal(t, "return probe's NMissed", below.rp.KP.NMissed(), want)
	suites.Equal(t, "jprobe's NMissed", below.j.KP.NMissed(), want)
	below.remove(t, "below", 0)
	suites.Equal(t, "wrong results", wrong.Load(), 0)
	suites.Equal(t, "NMissed above", k.NMissed()+rp.NMissed()+rp.KP.NMissed()+j.KP.NMissed(), 0)
}

// faultyFaultHandler faults while it handles a fault.
func faultyFaultHandler(t *suites.T) {
	b := badKprobe(&kprobes.Kprobe{
		PreHandler:   func(*kprobes.Kprobe, *amd64.Regs) int { sink = *nilWord; return 0 },
		FaultHandler: func(*kprobes.Kprobe, *amd64.Regs, int) int { sink = *nilWord; return 1 }})
	since := suites.Mark()
	t.Must(b.register())
	for i := range uint64(10) {
		suites.Equal(t, "victim", victim(i), i*3+3)
	}
	if n := suites.Logged(since, "abandoned: ", "victim"); n != 1 {
		t.Errorf("%d reports", n)
	}
	isWell(t, "afterwards")
	b.unregister()
	l := b.ledger()
	suites.Equal(t, "Abandoned", l.Abandoned, 1)
	if l.Unexplained() != 0 {
		t.Errorf("account %+v", l)
	}
}

// atOnce makes a handler wait until its probe is hit on another CPU as well. Between
// hits the runtime can stop each goroutine: a collection used to hold one, and wait
// for the other until that had given up.
func atOnce(t *suites.T) {
	if cpu.Num() < 2 {
		t.Skipf("needs two CPUs")
	}
	var inside, met atomic.Int64
	k := &kprobes.Kprobe{Addr: entry(victim), PreHandler: func(*kprobes.Kprobe, *amd64.Regs) int {
		inside.Add(1)
		for end := cpu.Nanotime() + 100e6; cpu.Nanotime() < end && met.Load() == 0; {
			if inside.Load() > 1 {
				met.Add(1)
			}
		}
		inside.Add(-1)
		return 0
	}}
	t.Must(kprobes.RegisterKprobe(k))
	t.Together(func(int) {
		t.Until("two CPUs in the handler", func() bool {
			victim(1)
			return met.Load() != 0
		})
	})
	kprobes.UnregisterKprobe(k)
}
