//go:build tamago

package uprobes

// Handlers in trap context that break the rules.

import (
	"runtime"
	"strings"
	"sync/atomic"
	"time"

	"sonde/arch/amd64"
	"sonde/kernel/cpu"
	"sonde/ktest/suites"
	"sonde/linux/proc"
	"sonde/uprobes"
)

func init() {
	suites.Add("uprobes/trap_handler_may_not_register", trapRefused)
	suites.Add("uprobes/trap_handlers_that_break_the_rules", breakRules)
	suites.Add("uprobes/trap_handler_loops_for_ever", loopsInTrap)
	suites.Add("uprobes/trap_unregistering_waits_for_handlers", waitsInTrap)
}

func trapRefused(t *suites.T) {
	p := need(t, "/bin/probed")
	other := &uprobes.Uprobe{Pid: 1, Handler: nothing}
	var refused, not atomic.Int64
	u := &uprobes.Uprobe{TrapSafe: true}
	u.Handler = func(u *uprobes.Uprobe, _ *amd64.Regs) {
		if !cpu.InHandler() { // the first hit of the thread
			return
		}
		for _, err := range [...]error{uprobes.RegisterUprobe(other), uprobes.UnregisterUprobe(u), uprobes.DisableUprobe(u)} {
			if err != nil && strings.Contains(err.Error(), "must not sleep") {
				refused.Add(1)
			} else {
				not.Add(1)
			}
		}
	}
	p.start(t, func(in *proc.Process) { p.probe(t, in, u, "leaf") }, "calls").wait(t, "calls 1505500\n")
	if refused.Load() < 3*900 || not.Load() != 0 {
		t.Errorf("%d refused, %d not", refused.Load(), not.Load())
	}
}

var (
	sink     *[64]byte
	sinkChan = make(chan int, 1)
)

// breakRules: each is abandoned, said in the log, and its probe disabled; the program continues, and other
// probes count.
func breakRules(t *suites.T) {
	defer trapped()()
	p := need(t, "/bin/probed")
	for _, c := range []struct {
		says string
		f    func()
	}{
		{"allocates memory", func() { sink = new([64]byte) }},
		{"channel operation", func() { sinkChan <- 1 }},
		{"sleeps", func() { time.Sleep(1) }},
		{"panic", func() { panic("of a test") }},
		{"nil pointer dereference", func() { *(*int)(nil) = 1 }},
		{"starts a goroutine", func() { go func() {}() }},
	} {
		n := 0
		u := &uprobes.Uprobe{TrapSafe: true, Handler: func(*uprobes.Uprobe, *amd64.Regs) {
			if n++; n == 20 && cpu.InHandler() {
				c.f()
			}
		}}
		other := newCounter()
		log := logWhile(t, func() {
			p.start(t, func(in *proc.Process) {
				p.probe(t, in, u, "leaf")
				p.probe(t, in, &other.Uprobe, "leaf")
			}, "calls").wait(t, "calls 1505500\n")
		})
		if l := u.Ledger(); other.hits() != 1000 || n != 20 || l.Handled != 19 || l.Abandoned != 1 || l.Disarmed != 980 || l.Unexplained() != 0 {
			t.Errorf("%s: %d hits of the other, %d, %+v", c.says, other.hits(), n, l)
		}
		if !strings.Contains(log, "uprobes: handler of u at ") || !strings.Contains(log, c.says) || !strings.Contains(log, "rules_tamago.go") {
			t.Errorf("%s: logged: %s", c.says, log)
		}
	}
	select {
	case <-sinkChan:
	default:
	}
}

// loopsInTrap: a handler that never returns is found by the NMI, on any number of CPUs.
func loopsInTrap(t *suites.T) {
	p := need(t, "/bin/probed")
	var over atomic.Bool
	n := 0
	u := &uprobes.Uprobe{TrapSafe: true, Handler: func(*uprobes.Uprobe, *amd64.Regs) {
		for n++; n == 3 && !over.Load(); {
		}
	}}
	time.AfterFunc(suites.Limit/2, func() { over.Store(true) })
	log := logWhile(t, func() {
		r := p.start(t, func(in *proc.Process) { p.probe(t, in, u, "leaf") }, "calls")
		t.Until("the loop", func() bool { return u.Ledger().Entered > 2 })
		runtime.GC()
		r.wait(t, "calls 1505500\n")
	})
	if l := u.Ledger(); over.Load() || l.Handled != 2 || l.Abandoned != 1 || l.Disarmed != 997 || l.Unexplained() != 0 {
		t.Errorf("%d: %+v", n, l)
	}
	if !strings.Contains(log, "abandoned: it runs too long") {
		t.Errorf("logged: %s", log)
	}
}

// waitsInTrap: when unregistering returns, no handler runs, nor will one.
func waitsInTrap(t *suites.T) {
	if cpu.Num() < 2 {
		t.Skipf("the handler has the only CPU")
	}
	p := need(t, "/bin/probed")
	var in, out atomic.Int64
	u := &uprobes.Uprobe{TrapSafe: true, Handler: func(*uprobes.Uprobe, *amd64.Regs) {
		in.Add(1)
		if cpu.InHandler() {
			for end := cpu.Nanotime() + 2e6; cpu.Nanotime() < end; {
			}
		}
		out.Add(1)
	}}
	stays := newCounter() // so that the breakpoint stays, too: to take it out would wait for all CPUs
	stays.TrapSafe = true
	r := p.start(t, func(pr *proc.Process) {
		p.probe(t, pr, &stays.Uprobe, "leaf")
		p.probe(t, pr, u, "leaf")
	}, "spins")
	for range 20 {
		n := in.Load()
		t.Until("a handler", func() bool { return in.Load() > n+1 && in.Load() > out.Load() })
		t.Must(uprobes.UnregisterUprobe(u))
		was := in.Load()
		if was != out.Load() {
			t.Errorf("%d handlers still run", was-out.Load())
		}
		time.Sleep(time.Millisecond)
		if in.Load() != was {
			t.Errorf("%d began later", in.Load()-was)
		}
		t.Must(uprobes.RegisterUprobe(u))
	}
	r.kill(t)
}
