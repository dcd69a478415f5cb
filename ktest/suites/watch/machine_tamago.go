//go:build tamago

package watch

import (
	"runtime"
	"strings"
	"sync/atomic"
	"unsafe"

	"sonde/arch/amd64"
	"sonde/arch/amd64/debugreg"
	"sonde/arch/amd64/insn"
	"sonde/arch/amd64/trap"
	"sonde/kallsyms"
	"sonde/kernel/cpu"
	"sonde/kernel/notifier"
	"sonde/kernel/printk"
	"sonde/kernel/smp"
	"sonde/kprobes"
	"sonde/ktest/suites"
	"sonde/kwatch"
	"sonde/sysctl"
)

func init() {
	suites.Add("watch/armed_on_every_cpu_at_once", everyCPU)
	suites.Add("watch/cpu_that_comes_late", lateCPU)
	suites.Add("watch/begins_while_cpus_load_what_was_set", beginsInLoad)
	suites.Add("watch/access_in_an_nmi", inNMI)
	suites.Add("watch/nmi_in_a_watch_handler", nmiInHandler)
	suites.Add("watch/nmi_before_dr6_is_read", nmiBeforeDR6)
	suites.Add("watch/execute_what_loads_the_registers", loader)
	suites.Add("watch/machine_stopped", stopped)
	suites.Add("watch/handlers_that_break_the_rules", breakRules)
	suites.Add("watch/handler_that_never_returns", neverReturns)
	suites.Add("watch/registered_and_unregistered_under_load", storm)
}

// everyCPU: when registering returns, each CPU has the watchpoint, idle ones too; when unregistering
// returns, no CPU has it.
func everyCPU(t *suites.T) {
	var s seen
	for range 50 {
		reg := on(t, wordAt(), 8, kwatch.Write, s.hit)
		suites.EachCPU(func(id int) { incWord() })
		want := int64(cpu.Num())
		off(t, reg)
		if s.n.Load() != want {
			t.Fatalf("%d hits on %d CPUs", s.n.Load(), want)
		}
		for i, h := range s.hits[:want] {
			for _, o := range s.hits[:i] {
				if o.CPU == h.CPU {
					t.Fatalf("CPU %d twice", h.CPU)
				}
			}
		}
		var still atomic.Int64 // a hit that finds no watchpoint does not show
		suites.EachCPU(func(id int) {
			incWord()
			still.Add(int64(debugreg.Enabled(debugreg.ReadDR7())))
		})
		if s.n.Load() != want || still.Load() != 0 {
			t.Fatalf("%d hits when it had ended; CPUs that still watch: %d", s.n.Load()-want, still.Load())
		}
		s.n.Store(0)
	}
}

// lateCPU: a CPU that starts loads the watchpoints that there are. No CPU starts later than boot, so
// one clears its debug registers.
func lateCPU(t *suites.T) {
	var s seen
	late := cpu.Num() - 1
	reg := on(t, wordAt(), 8, kwatch.Write, s.hit)
	suites.EachCPU(func(id int) {
		if id == late {
			debugreg.Load(new([debugreg.Num]uint64), debugreg.DR7_FIXED) // as after a reset
			incWord()
		}
	})
	if s.n.Load() != 0 {
		t.Fatalf("a hit with nothing in the debug registers")
	}
	suites.EachCPU(func(id int) {
		if id == late {
			trap.LoadWatch() // as trap.Install does
			incWord()
		}
	})
	off(t, reg)
	if s.n.Load() != 1 || s.hits[0].CPU != late {
		t.Errorf("%d hits, %+v", s.n.Load(), s.hits[0])
	}
}

// beginsInLoad: CPUs load the registers for one change while the next one is being made, and hit what it watches as
// soon as they do.
func beginsInLoad(t *suites.T) {
	var hits atomic.Int64
	var stop atomic.Bool
	ended, since := make(chan bool), suites.Mark()
	go func() {
		for !stop.Load() {
			smp.CallAll(func() {
				trap.LoadWatch()
				incWord()
			})
		}
		close(ended)
	}()
	for range 300 {
		reg := on(t, wordAt(), 8, kwatch.Write, func(*kwatch.Hit, *amd64.Regs) { hits.Add(1) })
		if hits.Load() == 0 {
			runtime.Gosched() // on one CPU, the other goroutine may not have run yet
		}
		t.Must(kwatch.UnregisterKwatch(reg))
	}
	stop.Store(true)
	<-ended
	if n := suites.Logged(since, "unexpected debug trap"); n != 0 || hits.Load() == 0 {
		t.Errorf("%d hits, and in the log %d of them before the trap's handler was there", hits.Load(), n)
	}
}

// nmis makes each NMI call f until end is called.
func nmis(f func()) (end func()) {
	return suites.OnNMI(func(*amd64.Regs) notifier.Action { f(); return notifier.Stop })
}

func inNMI(t *suites.T) {
	const n = 200
	var s seen
	var came atomic.Int64
	reg := on(t, wordAt(), 8, kwatch.ReadWrite, s.hit)
	end := nmis(func() { incWord(); came.Add(1) })
	for i := range n {
		before := came.Load()
		cpu.SendNMI(i % cpu.Num())
		t.Until("the NMI", func() bool { return came.Load() > before })
	}
	end()
	l := off(t, reg)
	if s.n.Load()+int64(l.Ledger.Missed()) != came.Load() || s.n.Load() < n {
		t.Errorf("%d NMIs, %d hits; %+v", came.Load(), s.n.Load(), l.Ledger)
	}
}

// nmiInHandler: an NMI comes while a handler runs, and accesses what is watched: that access is
// missed, and counted. The NMI comes between any two instructions of the hit.
func nmiInHandler(t *suites.T) {
	const n = 300
	var s seen
	var came, done atomic.Int64
	reg := on(t, wordAt(), 8, kwatch.ReadWrite, func(h *kwatch.Hit, r *amd64.Regs) {
		if s.hit(h, r); h.Goid != 0 && !trap.InNMI(h.CPU) {
			cpu.SendNMI(h.CPU)
		}
	})
	end := nmis(func() { incWord(); came.Add(1) })
	for range n {
		incWord()
		done.Add(1)
	}
	t.Until("NMIs", func() bool { return came.Load() >= n/2 })
	end()
	l := off(t, reg)
	if want := came.Load() + done.Load(); int64(l.Ledger.Entered) != want || l.Ledger.Recursion == 0 {
		t.Errorf("%d accesses, %d of them in NMIs; %+v", want, came.Load(), l.Ledger)
	}
}

// nmiBeforeDR6: an NMI comes when a #DB has set DR6 but its entry has not read it yet. The NMI hits
// another watchpoint: each gets its own hit, and the interrupted #DB still finds its own DR6.
func nmiBeforeDR6(t *suites.T) {
	var s, other seen
	var came atomic.Int64
	reg := on(t, wordAt(), 8, kwatch.Write, s.hit)
	not := on(t, uintptr(unsafe.Pointer(&bytes[0])), 1, kwatch.Write, other.hit)
	end := nmis(func() { incWord(); came.Add(1) })
	want := uint64(debugreg.DR6_FIXED | debugreg.DR6_B0<<not)
	for range 50 {
		before := came.Load()
		flags := cpu.IRQOff()
		debugreg.WriteDR6(want)
		cpu.SendNMI(cpu.ID())
		for limit := cpu.Nanotime() + int64(suites.Limit); came.Load() == before && cpu.Nanotime() < limit; {
			cpu.Pause()
		}
		got := debugreg.ReadDR6()
		debugreg.WriteDR6(debugreg.DR6_FIXED)
		cpu.IRQRestore(flags)
		if got != want {
			t.Fatalf("DR6 is %#x, was %#x", got, want)
		}
	}
	end()
	off(t, not)
	off(t, reg)
	if s.n.Load() != came.Load() || other.n.Load() != 0 {
		t.Errorf("%d NMIs, %d hits, and %d of what nobody wrote", came.Load(), s.n.Load(), other.n.Load())
	}
}

// loader watches each instruction of the code that turns watchpoints off. A watchpoint that was
// already unregistered used to hit there again and again.
func loader(t *suites.T) {
	const name = "sonde/arch/amd64/debugreg.Load"
	var sym kallsyms.Symbol
	for sym = range kallsyms.Kernel().Named(name) {
		break
	}
	if !strings.HasPrefix(sym.Name, name) {
		t.Fatalf("there is no %s", name)
	}
	n := 0
	insn.Walk(kprobes.Original(uintptr(sym.Addr), uintptr(sym.Size)), func(at int, _ insn.Inst) bool {
		var s seen
		off(t, on(t, uintptr(sym.Addr)+uintptr(at), 1, kwatch.Execute, s.hit))
		n++
		return true
	})
	t.Logf("%d instructions", n)
}

// stopped: while the machine is stopped no handler runs, because its code may be half
// changed.
func stopped(t *suites.T) {
	var s seen
	reg := on(t, wordAt(), 8, kwatch.Write, s.hit)
	_, err := smp.StopMachine(func([]*amd64.Regs) error { incWord(); return nil })
	t.Must(err)
	incWord()
	l := off(t, reg)
	if s.n.Load() != 1 || l.Ledger.Recursion != 1 {
		t.Errorf("%d hits; %+v", s.n.Load(), l.Ledger)
	}
}

var (
	nowhere *uint64
	garbage []byte
	channel = make(chan int, 1)
)

func breakRules(t *suites.T) {
	for _, c := range []struct {
		name string
		typ  kwatch.Type
		do   func()
	}{
		{"page fault", kwatch.Write, func() { *nowhere = 1 }},
		{"allocation", kwatch.ReadWrite, func() { garbage = make([]byte, 1<<16) }},
		{"channel", kwatch.Write, func() { channel <- 1 }},
		{"panic", kwatch.Write, func() { panic("x") }},
		{"executed", kwatch.Execute, func() { *nowhere = 1 }},
	} {
		var good seen
		addr, length := wordAt(), 8
		if c.typ == kwatch.Execute {
			addr, length = incAt, 1
		}
		bad := on(t, addr, length, c.typ, func(*kwatch.Hit, *amd64.Regs) { c.do() })
		reg := on(t, wordAt(), 8, kwatch.Write, good.hit) // a second one of the same access
		before := word
		for range 5 {
			incWord()
		}
		if word != before+5 {
			t.Errorf("%s: the interrupted code did not go on", c.name)
		}
		all := kwatch.All()
		if len(all) != 2 || !all[0].Gone || all[0].Ledger.Abandoned == 0 {
			t.Errorf("%s: %+v", c.name, all)
		}
		off(t, reg)
		off(t, bad)
		if good.n.Load() < 5 {
			t.Errorf("%s: the other watchpoint has %d hits of 5", c.name, good.n.Load())
		}
	}
	var log strings.Builder
	t.Must(printk.Dmesg(&log, printk.LevelDebug))
	if !strings.Contains(log.String(), "kwatch: handler of w at sonde/ktest/suites/watch.word+0x0/0x8 abandoned: nil pointer dereference (#PF page fault) at ktest/suites/watch/machine_tamago.go:") {
		t.Errorf("the log does not say so")
	}
}

// neverReturns: a handler loops, on one CPU after the other. It is ended as a probe's handler is,
// and the code that it interrupted continues.
func neverReturns(t *suites.T) {
	const limit = "debug.kprobes-handler-limit-ms"
	t.Must(sysctl.Set(limit, "300"))
	defer sysctl.Set(limit, "2000")
	for id := range cpu.Num() {
		var began atomic.Int64
		reg := on(t, wordAt(), 8, kwatch.Write, func(*kwatch.Hit, *amd64.Regs) {
			for began.Add(1); ; {
				cpu.Pause()
			}
		})
		before := word
		for done := false; !done; runtime.Gosched() { // until it is that CPU's turn
			flags := cpu.IRQOff()
			if done = cpu.ID() == id; done {
				incWord()
			}
			cpu.IRQRestore(flags)
		}
		if word != before+1 || began.Load() != 1 {
			t.Errorf("CPU %d: written %d times, %d handlers began", id, word-before, began.Load())
		}
		if l := off(t, reg); l.Ledger.Abandoned != 1 || !l.Gone {
			t.Errorf("CPU %d: %+v", id, l)
		}
	}
}

// storm registers and unregisters on one CPU what the others write.
func storm(t *suites.T) {
	rounds := suites.Rounds(60, 60)
	var stop atomic.Bool
	var s seen
	before := kwatch.Ended()
	t.Together(func(i int) {
		if i > 0 {
			for !stop.Load() {
				incWord()
				put8((*uint8)(unsafe.Pointer(&bytes[i&3])), 1)
				runtime.Gosched()
			}
			return
		}
		for n := range rounds {
			a := on(t, wordAt(), 8, kwatch.Type(n&1), s.hit)
			b := on(t, uintptr(unsafe.Pointer(&bytes[1])), 4, kwatch.Write, s.hit)
			incWord()
			runtime.Gosched()
			t.Must(kwatch.UnregisterKwatch(a))
			t.Must(kwatch.UnregisterKwatch(b))
			if now := kwatch.Ended(); now.Unexplained() != before.Unexplained() {
				t.Errorf("round %d: %d hits unexplained", n, now.Unexplained())
			}
		}
		stop.Store(true)
	})
	if got := kwatch.Ended().Handled - before.Handled; got != uint64(s.n.Load()) || got < uint64(rounds) {
		t.Errorf("%d handled, %d seen, in %d rounds", got, s.n.Load(), rounds)
	}
	t.Logf("%d hits", s.n.Load())
}
