//go:build tamago

package traps

import (
	"reflect"
	"sync/atomic"

	"sonde/arch/amd64"
	"sonde/arch/amd64/insn"
	"sonde/arch/amd64/msr"
	"sonde/arch/amd64/phys"
	"sonde/arch/amd64/trap"
	"sonde/kernel/cpu"
	"sonde/kernel/notifier"
	"sonde/kernel/smp"
	"sonde/kernel/text"
	"sonde/kprobes"
	"sonde/ktest/suites"
)

func init() {
	suites.Add("traps/breakpoint_in_an_nmi_in_the_entry_stub", nmiInEntryStub)
	suites.Add("traps/nmi_in_an_nmi_comes_after_it", nmiInNMI)
	suites.Add("traps/nmi_while_the_machine_is_stopped", nmiWhileStopped)
	suites.Add("traps/storm_of_nmis_with_breakpoints", nmiStorm)
}

func nmiAtProbe(apic uintptr)
func nmiAtProbeAddr() uintptr

// inNMI is what the handler of NMIs below calls. It has a probe.
//
//go:noinline
func inNMI(a uint64) uint64 { return a*5 + 1 }

// outside has a probe and is called by goroutines.
//
//go:noinline
func outside(a uint64) uint64 { return a*7 + 2 }

// takenNMIs counts NMIs, and those in which inNMI did not do what it should.
type takenNMIs struct {
	count, bad atomic.Uint64
	end        func()
}

// takeNMIs makes every NMI call first, with the CPU, and inNMI n times. The watch's NMIs
// are among them.
func takeNMIs(n uint64, first func(id int)) *takenNMIs {
	x := &takenNMIs{}
	x.end = suites.OnNMI(func(r *amd64.Regs) notifier.Action {
		x.count.Add(1)
		first(trap.ID(r))
		for i := range n {
			if inNMI(i) != i*5+1 {
				x.bad.Add(1)
			}
		}
		return notifier.Stop
	})
	return x
}

func nothing(int) {}

// stepped registers a probe that single-steps at addr: two traps for each hit.
func stepped(t *suites.T, addr uintptr) *kprobes.Kprobe {
	k := &kprobes.Kprobe{Addr: addr, PreHandler: func(*kprobes.Kprobe, *amd64.Regs) int { return 0 },
		PostHandler: func(*kprobes.Kprobe, *amd64.Regs, uint64) {}}
	t.Must(kprobes.RegisterKprobe(k))
	return k
}

// apic returns where the local APIC is.
func apic() uintptr { return phys.Direct(msr.Read(amd64.MSR_APIC_BASE) &^ 0xfff) }

// theNOP returns the address of the instruction of nmiAtProbe that is probed.
func theNOP(t *suites.T) (addr uintptr) {
	start := nmiAtProbeAddr()
	code := text.Bytes(start, 64)
	insn.Walk(code, func(off int, in insn.Inst) bool {
		if code[off] == 0x90 && in.Len == 1 {
			addr = start + uintptr(off)
		}
		return addr == 0
	})
	if addr == 0 {
		t.Fatalf("there is no NOP in nmiAtProbe")
	}
	return addr
}

// second returns the address of the second instruction of f: the first may be a
// stack check, which is not stepped.
func second(t *suites.T, f func(uint64) uint64) uintptr {
	addr := reflect.ValueOf(f).Pointer()
	in, err := insn.Decode(text.Bytes(addr, insn.MaxLen))
	t.Must(err)
	return addr + uintptr(in.Len)
}

// nmiInEntryStub makes an NMI interrupt the entry stub of a breakpoint, and hit probes itself. Their
// frames used to be pushed over the one that the stub had not removed yet.
func nmiInEntryStub(t *suites.T) {
	const rounds, each = 500, 3
	inner, outer := stepped(t, second(t, inNMI)), stepped(t, theNOP(t))
	nmis := takeNMIs(each, nothing)
	for range rounds {
		nmiAtProbe(apic())
	}
	nmis.end()
	kprobes.UnregisterKprobes([]*kprobes.Kprobe{inner, outer})
	n := nmis.count.Load()
	if n < rounds || nmis.bad.Load() != 0 {
		t.Errorf("%d NMIs, %d bad results; %d were sent", n, nmis.bad.Load(), rounds)
	}
	if hits, missed := inner.Hits(), inner.NMissed(); hits+missed != n*each {
		t.Errorf("in %d NMIs: %d hits and %d missed, want %d together", n, hits, missed, n*each)
	}
	if hits := outer.Hits(); hits != rounds {
		t.Errorf("%d hits of the interrupted probe, want %d", hits, rounds)
	}
	t.Logf("%d hits in NMIs, %d missed: they came on top of another", inner.Hits(), inner.NMissed())
}

// nmiInNMI makes the handler of an NMI send another, and hit a breakpoint, whose end
// lets that in. It must not be handled before the first is done, whose frame it would
// overwrite, nor be lost.
func nmiInNMI(t *suites.T) {
	const rounds = 500
	var send, mixed atomic.Uint64
	var inside [trap.MaxCPUs]bool
	var due [trap.MaxCPUs]atomic.Bool // the inner NMI was sent, but has not come yet
	inner, nop := stepped(t, second(t, inNMI)), stepped(t, theNOP(t))
	nmis := takeNMIs(2, func(id int) {
		if inside[id] {
			mixed.Add(1)
		}
		inside[id] = true
		due[id].Store(false)
		if send.CompareAndSwap(1, 0) {
			due[id].Store(true)
			nmiAtProbe(apic())
		}
		inside[id] = false
	})
	for range rounds {
		send.Store(1)
		nmiAtProbe(apic())
		for id := range due { // of another CPU if the watch's NMI sent it
			t.Until("the inner NMI", func() bool { return !due[id].Load() })
		}
	}
	nmis.end()
	kprobes.UnregisterKprobes([]*kprobes.Kprobe{inner, nop})
	if nmis.bad.Load()+mixed.Load() != 0 {
		t.Errorf("%d bad results, %d NMIs inside another", nmis.bad.Load(), mixed.Load())
	}
	if have, want := nop.Hits()+nop.NMissed(), uint64(2*rounds); have != want {
		t.Errorf("%d hits, want %d", have, want)
	}
}

// nmiWhileStopped sends NMIs to all CPUs while the machine is stopped. Their handlers
// must not be called then, because their code may be half changed; afterwards they are.
func nmiWhileStopped(t *suites.T) {
	var before, during uint64
	nmis := takeNMIs(1, nothing)
	_, err := smp.StopMachine(func([]*amd64.Regs) error {
		before = nmis.count.Load()
		for range 10 {
			for id := range cpu.Num() {
				cpu.SendNMI(id)
				cpu.Delay(100e3)
			}
		}
		during = nmis.count.Load() - before
		return nil
	})
	t.Must(err)
	if during != 0 {
		t.Errorf("%d NMIs were handled while the machine was stopped", during)
	}
	cpu.SendNMI(0)
	t.Until("an NMI afterwards", func() bool { return nmis.count.Load() > before })
	nmis.end()
}

// nmiStorm makes all CPUs but one hit probes while that one sends them NMIs, which
// hit probes as well, and are interrupted by further NMIs: the end of the first
// breakpoint in an NMI lets the next NMI in.
func nmiStorm(t *suites.T) {
	const enough = 3000
	inner, outer := stepped(t, second(t, inNMI)), stepped(t, second(t, outside))
	nmis := takeNMIs(2, nothing)
	before := arrived(amd64.VEC_NMI)
	var bad, calls atomic.Uint64
	t.Together(func(id int) {
		for i := uint64(0); nmis.count.Load() < enough; i++ {
			if id == cpu.Num()-1 {
				cpu.SendNMI(int(i) % cpu.Num())
			}
			if calls.Add(1); outside(i) != i*7+2 {
				bad.Add(1)
			}
		}
	})
	nmis.end()
	kprobes.UnregisterKprobes([]*kprobes.Kprobe{inner, outer})
	if bad.Load()+nmis.bad.Load() != 0 {
		t.Errorf("%d bad results of goroutines, %d in NMIs", bad.Load(), nmis.bad.Load())
	}
	if n := nmis.count.Load(); inner.Hits()+inner.NMissed() != 2*n {
		t.Errorf("in %d NMIs: %d hits and %d missed, want %d together", n, inner.Hits(), inner.NMissed(), 2*n)
	}
	if outer.Hits()+outer.NMissed() != calls.Load() {
		t.Errorf("%d calls: %d hits and %d missed", calls.Load(), outer.Hits(), outer.NMissed())
	}
	t.Logf("%d NMIs, %d arrived, %d calls", nmis.count.Load(), arrived(amd64.VEC_NMI)-before, calls.Load())
}
