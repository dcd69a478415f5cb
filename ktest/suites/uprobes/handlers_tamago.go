//go:build tamago

package uprobes

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"sonde/arch/amd64"
	"sonde/kprobes"
	"sonde/ktest/suites"
	"sonde/linux/proc"
	"sonde/uprobes"
)

func init() {
	both("uprobes/handlers_run_in_order", order)
	suites.Add("uprobes/registering_in_a_handler_is_queued", queued)
	suites.Add("uprobes/handler_unregisters_itself", itself)
	suites.Add("uprobes/handler_sleeps_and_others_run", sleeper)
	both("uprobes/handler_panics", panics)
	suites.Add("uprobes/handler_changes_registers_and_memory", changes)
	suites.Add("uprobes/handler_registers_a_kernel_probe", kernelProbe)
	suites.Add("uprobes/kernel_handler_may_not_register", fromTrap)
	suites.Add("uprobes/unregistering_waits_for_handlers", waits)
}

// probe makes u one on a function of a process that is about to run.
func (p *program) probe(t *suites.T, in *proc.Process, u *uprobes.Uprobe, function string) {
	u.Pid, u.Vaddr = in.PID, p.addr(t, in, function)
	if err := uprobes.RegisterUprobe(u); err != nil {
		t.Errorf("register: %v", err)
	}
}

// order: probes and a return probe at one address, of several modules.
func order(t *suites.T) {
	p := need(t, "/bin/probed")
	var got letters
	note := func(c byte) *uprobes.Uprobe {
		return &uprobes.Uprobe{TrapSafe: inTrap, Handler: func(*uprobes.Uprobe, *amd64.Regs) { got.add(c) }}
	}
	noteReturn := func(c byte) *uprobes.Uretprobe {
		rp := &uprobes.Uretprobe{Handler: func(*uprobes.UretprobeInstance, *amd64.Regs) { got.add(c) }}
		rp.U.TrapSafe = inTrap
		return rp
	}
	us := []*uprobes.Uprobe{note('a'), note('b'), note('c')}
	rps := []*uprobes.Uretprobe{noteReturn('r'), noteReturn('s')}
	r := p.start(t, func(in *proc.Process) {
		p.probe(t, in, us[0], "secret")
		for _, rp := range rps {
			rp.U.Pid, rp.U.Vaddr = us[0].Pid, us[0].Vaddr
			t.Must(uprobes.RegisterUretprobe(rp))
		}
		p.probe(t, in, us[1], "secret")
		p.probe(t, in, us[2], "secret")
		t.Must(uprobes.UnregisterUprobe(us[1]))
		p.probe(t, in, us[1], "secret") // now it is the last
	}, "secret")
	r.wait(t, "secret 41\n")
	if s := got.String(); s != "acbrs" {
		t.Errorf("%s, want acbrs", s)
	}
}

// queued: what a handler asks for happens when all handlers of the point have run.
func queued(t *suites.T) {
	p := need(t, "/bin/probed")
	var got []string
	say := func(format string, args ...any) { got = append(got, fmt.Sprintf(format, args...)) }
	callback := func(u *uprobes.Uprobe, reg int, typ uprobes.Type, result error) {
		say("callback %d %d %v %v", reg, typ, result, u.Uretprobe() != nil)
	}
	other := &uprobes.Uprobe{Handler: func(*uprobes.Uprobe, *amd64.Regs) { say("other") }, RegistrationCallback: callback}
	bad := &uprobes.Uprobe{Pid: 1 << 22, Handler: other.Handler, RegistrationCallback: func(_ *uprobes.Uprobe, _ int, _ uprobes.Type, result error) {
		say("bad %v", errors.Is(result, syscall.ESRCH))
	}}
	ret := &uprobes.Uretprobe{Handler: func(*uprobes.UretprobeInstance, *amd64.Regs) { say("returned") }}
	ret.U.RegistrationCallback = callback
	first := new(uprobes.Uprobe)
	first.Handler = func(*uprobes.Uprobe, *amd64.Regs) {
		for _, err := range []error{uprobes.RegisterUprobe(other), uprobes.RegisterUprobe(bad), uprobes.RegisterUretprobe(ret), uprobes.UnregisterUprobe(first)} {
			say("%v", errors.Is(err, syscall.EINPROGRESS))
		}
		if uprobes.Current() == nil || uprobes.Current().Process().PID != first.Pid {
			say("who is it?")
		}
	}
	last := &uprobes.Uprobe{Handler: func(*uprobes.Uprobe, *amd64.Regs) { say("last") }}
	r := p.start(t, func(in *proc.Process) {
		other.Pid, ret.U.Pid = in.PID, in.PID
		other.Vaddr, ret.U.Vaddr = p.addr(t, in, "leaf"), p.addr(t, in, "leaf")
		p.probe(t, in, first, "secret")
		p.probe(t, in, last, "secret")
	}, "secret", "tail")
	r.wait(t, "secret 41\ntail 14950\n")
	want := []string{"true", "true", "true", "true", "last", "callback 1 0 <nil> false", "bad true", "callback 1 1 <nil> true", "other", "returned"}
	if !slices.Equal(got[:min(len(got), len(want))], want) || len(got) != len(want)+2*99 {
		t.Errorf("%d lines: %q", len(got), got[:min(len(got), 14)])
	}
	if uprobes.Current() != nil {
		t.Errorf("there is a current thread outside of handlers")
	}
}

func itself(t *suites.T) {
	p := need(t, "/bin/probed")
	n, told := 0, 0
	u := &uprobes.Uprobe{RegistrationCallback: func(u *uprobes.Uprobe, reg int, typ uprobes.Type, result error) {
		if reg == 0 && typ == uprobes.UPTY_UPROBE && result == nil {
			told++
		}
	}}
	u.Handler = func(*uprobes.Uprobe, *amd64.Regs) {
		if n++; n == 5 {
			if err := uprobes.UnregisterUprobe(u); !errors.Is(err, syscall.EINPROGRESS) {
				t.Errorf("%v", err)
			}
		}
	}
	r := p.start(t, func(in *proc.Process) { p.probe(t, in, u, "leaf") }, "calls")
	r.wait(t, "calls 1505500\n")
	if n != 5 || told != 1 {
		t.Errorf("%d hits, %d callbacks", n, told)
	}
}

// sleeper: the handler of one thread waits until others have been in it often.
func sleeper(t *suites.T) {
	p := need(t, "/bin/probed")
	var n atomic.Int64
	var slept atomic.Bool
	u := &uprobes.Uprobe{Handler: func(*uprobes.Uprobe, *amd64.Regs) {
		if n.Add(1) != 1 {
			return
		}
		for end := time.Now().Add(suites.Limit / 2); n.Load() < 2000 && time.Now().Before(end); {
			time.Sleep(time.Millisecond)
		}
		slept.Store(n.Load() >= 2000)
	}}
	r := p.start(t, func(in *proc.Process) { p.probe(t, in, u, "leaf") }, "threads")
	r.wait(t, "threads 6000000\n")
	if !slept.Load() || n.Load() != 4000 {
		t.Errorf("%d hits; others ran meanwhile: %v", n.Load(), slept.Load())
	}
}

func panics(t *suites.T) {
	p := need(t, "/bin/probed")
	n := 0
	u := &uprobes.Uprobe{TrapSafe: inTrap, Handler: func(u *uprobes.Uprobe, _ *amd64.Regs) {
		if n++; n == 3 {
			panic("of a test")
		}
	}}
	other := newCounter()
	r := p.start(t, func(in *proc.Process) {
		p.probe(t, in, u, "leaf")
		p.probe(t, in, &other.Uprobe, "leaf")
	}, "calls")
	r.wait(t, "calls 1505500\n")
	l := u.Ledger()
	if n != 3 || other.hits() != 1000 || l.Abandoned != 1 || l.Handled != 2 || l.Disarmed != 997 || l.Unexplained() != 0 {
		t.Errorf("%d, the other %d, %+v", n, other.hits(), l)
	}
}

// changes: arguments are other ones, and a function is left out.
func changes(t *suites.T) {
	p := need(t, "/bin/probed")
	u := &uprobes.Uprobe{Handler: func(_ *uprobes.Uprobe, r *amd64.Regs) { r.DI, r.SI = 10, 5 }}
	skip := &uprobes.Uprobe{Handler: func(_ *uprobes.Uprobe, r *amd64.Regs) {
		var back [8]byte
		if err := uprobes.Current().Memory().In(back[:], r.SP); err != nil {
			t.Errorf("%v", err)
		}
		r.IP = uint64(back[0]) | uint64(back[1])<<8 | uint64(back[2])<<16 | uint64(back[3])<<24
		r.SP += 8
		r.AX = 7
	}}
	r := p.start(t, func(in *proc.Process) {
		p.probe(t, in, u, "leaf")
		p.probe(t, in, skip, "secret")
	}, "calls", "secret")
	r.wait(t, "calls 35000\nsecret 7\n")
}

// kernelProbe: kernel probes of all kinds come and go in a handler.
func kernelProbe(t *suites.T) {
	p := need(t, "/bin/probed")
	const write = "sonde/linux/syscall.write"
	k := &kprobes.Kprobe{SymbolName: write, PreHandler: func(*kprobes.Kprobe, *amd64.Regs) int { return 0 }}
	rp := &kprobes.Kretprobe{KP: kprobes.Kprobe{SymbolName: write}, Handler: func(*kprobes.KretprobeInstance, *amd64.Regs) int { return 0 }}
	u := &uprobes.Uprobe{Handler: func(*uprobes.Uprobe, *amd64.Regs) {
		if k.Ledger().Handled == 0 {
			t.Must(kprobes.RegisterKprobe(k))
			t.Must(kprobes.RegisterKretprobe(rp))
			return
		}
		kprobes.UnregisterKprobe(k)
		kprobes.UnregisterKretprobe(rp)
	}}
	r := p.start(t, func(in *proc.Process) { p.probe(t, in, u, "secret") }, "secret", "secret", "tail")
	r.wait(t, "secret 41\nsecret 41\ntail 14950\n")
	if a, b := k.Ledger(), rp.KP.Ledger(); a.Handled != 1 || b.Handled != 1 {
		t.Errorf("%+v, %+v", a, b)
	}
}

// trapSaid is the text of an error: a handler may store no pointer.
var trapSaid struct {
	n    int
	text [200]byte
}

func fromTrap(t *suites.T) {
	p := need(t, "/bin/probed")
	u := &uprobes.Uprobe{Pid: 1, Handler: func(*uprobes.Uprobe, *amd64.Regs) {}}
	trapSaid.n = 0
	k := &kprobes.Kprobe{SymbolName: "sonde/linux/syscall.write", PreHandler: func(*kprobes.Kprobe, *amd64.Regs) int {
		if err := uprobes.RegisterUprobe(u); err != nil {
			trapSaid.n = copy(trapSaid.text[:], err.Error())
		}
		return 0
	}}
	t.Must(kprobes.RegisterKprobe(k))
	p.start(t, func(*proc.Process) {}, "secret").wait(t, "secret 41\n")
	kprobes.UnregisterKprobe(k)
	if said := string(trapSaid.text[:trapSaid.n]); !strings.Contains(said, "a handler in trap context must not sleep") {
		t.Errorf("%q", said)
	}
}

// waits: when unregistering returns, no handler runs.
func waits(t *suites.T) {
	p := need(t, "/bin/probed")
	var in, out atomic.Bool
	u := &uprobes.Uprobe{Handler: func(*uprobes.Uprobe, *amd64.Regs) {
		in.Store(true)
		time.Sleep(200 * time.Millisecond)
		out.Store(true)
	}}
	r := p.start(t, func(pr *proc.Process) { p.probe(t, pr, u, "secret") }, "secret")
	t.Until("a handler", in.Load)
	t.Must(uprobes.UnregisterUprobe(u))
	if !out.Load() {
		t.Errorf("the handler still runs")
	}
	r.wait(t, "secret 41\n")
}
