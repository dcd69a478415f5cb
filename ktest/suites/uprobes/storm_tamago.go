//go:build tamago

package uprobes

import (
	"errors"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"sonde/arch/amd64"
	"sonde/ktest/suites"
	"sonde/linux/proc"
	"sonde/probe/ledger"
	"sonde/uprobes"
)

func init() {
	both("uprobes/storm", func(t *suites.T) { storm(t, suites.Storm(2)) })
	fused("uprobes/storm", func(t *suites.T) { storm(t, suites.Storm(2)) })
	long := func(t *suites.T) {
		t.NeedsLong()
		storm(t, 10*time.Minute)
	}
	both("uprobes/storm_of_ten_minutes", long)
	fused("uprobes/storm_of_ten_minutes", long)
}

// part is what a storm lets a program do.
type part struct {
	p         *program
	args      []string
	out       string
	functions []string

	counted string // a function that is called that often; "" if it is not known
	calls   uint64
	goCode  bool // entries are counted twice where the stack grows and a probe is in the check for that
}

// parts of a C program and, with long, of a Go program, whose parts take seconds.
func parts(t *suites.T, long bool) (all []part) {
	c := need(t, "/bin/probed")
	inC := []string{"leaf", "fib", "jumps", "worker", "forks", "twice", "forker", "handler", "longjmps", "__libc_write", "_Fork"}
	for _, x := range []struct {
		name, out, counted string
		calls              uint64
	}{
		{"calls", "calls 1505500\n", "leaf", 1000}, {"threads", "threads 6000000\n", "leaf", 4000},
		{"forks", "forks 135\n", "leaf", 10}, {"vforks", "vforks 135\n", "leaf", 10},
		{"longjmps", "longjmps 1000\n", "jumps", 1000}, {"signals", "signals 0\n", "", 0},
		{"drops", "drops 14850\n", "leaf", 100}, {"twice", "twice 10\n", "forker", 10}, {"fib", "fib 610\n", "fib", 1973},
	} {
		all = append(all, part{c, []string{x.name, x.name, x.name}, strings.Repeat(x.out, 3), inC, x.counted, 3 * x.calls, false})
	}
	all = append(all, part{c, []string{"calls", "exec"}, "calls 1505500\ncalls 1505500\n", inC, "leaf", 1001, false})
	if !long {
		return all
	}
	g := need(t, "/bin/gothreads")
	r := g.start(t, func(*proc.Process) {})
	<-r.p.Done()
	r.wait(t, r.out.String())
	inGo := []string{"main.deep", "main.stacks", "main.garbage.func1", "runtime.mallocgc", "fmt.Fprintln"}
	return append(all, part{g, nil, r.out.String(), inGo, "main.deep", 20 * 1001, true})
}

// sums are what a storm has done.
type sums struct{ rounds, killed, hits, returns, probes, toggles, exact atomic.Int64 }

// storm registers, unregisters, disables and enables probes at random instructions of
// programs with threads and children, some of which are killed, and checks what the programs
// print, and that probes which stay count each call.
func storm(t *suites.T, d time.Duration) {
	all := parts(t, d > time.Minute)
	end := time.Now().Add(d)
	var s sums
	for range 3 {
		t.Go(func() {
			for time.Now().Before(end) && !t.Failed() {
				s.round(t, &all[rand.IntN(len(all))])
			}
		})
	}
	if inTrap { // what hits store without write barriers, the collector must find all the same
		t.Go(func() {
			for time.Now().Before(end) && !t.Failed() {
				runtime.GC()
			}
		})
	}
	t.Wait()
	t.Logf("%d programs, %d of them killed, %d probes, %d hits, %d returns, %d times disabled or enabled; %d programs with probes that stay: %d calls, each counted",
		s.rounds.Load(), s.killed.Load(), s.probes.Load(), s.hits.Load(), s.returns.Load(), s.toggles.Load(), s.rounds.Load()-s.killed.Load(), s.exact.Load())
	if n := len(uprobes.All()); n != 0 {
		t.Errorf("%d probes are left", n)
	}
}

// round runs a program.
func (s *sums) round(t *suites.T, part *part) {
	stay := []one{s.newReturn(), s.newProbe()}
	if fuses {
		stay = stay[1:] // alone, unless another comes
	}
	r := part.p.start(t, func(in *proc.Process) {
		switch {
		case part.counted == "":
			stay = nil
		case part.goCode:
			stay = stay[:1]
		}
		for _, o := range stay {
			o.at(in.PID, part.p.addr(t, in, part.counted))
			t.Must(o.register())
		}
	}, part.args...)
	mine := s.on(t, part, r)
	s.rounds.Add(1)
	if rand.IntN(5) == 0 {
		r.kill(t)
		s.killed.Add(1)
	} else {
		r.wait(t, part.out)
		for _, o := range stay {
			s.exact.Add(int64(part.calls))
			if l := o.ledger(); l.Entered != part.calls || o.rp == nil && l.Handled != part.calls {
				t.Errorf("%v: %+v, want %d calls", part.args, l, part.calls)
			}
		}
	}
	for _, o := range append(mine, stay...) {
		if l := o.ledger(); l.Unexplained() != 0 || l.InFlight != 0 {
			t.Errorf("%v: %+v", part.args, l)
		}
	}
}

// one is a probe of a storm.
type one struct {
	u  *uprobes.Uprobe // of rp, if that is not nil
	rp *uprobes.Uretprobe
}

func (s *sums) newProbe() one {
	return one{u: fusable(&uprobes.Uprobe{TrapSafe: mixed(), Handler: func(*uprobes.Uprobe, *amd64.Regs) { s.hits.Add(1) }})}
}

func (s *sums) newReturn() one {
	rp := &uprobes.Uretprobe{Handler: func(*uprobes.UretprobeInstance, *amd64.Regs) { s.returns.Add(1) }}
	rp.U.TrapSafe = mixed()
	return one{&rp.U, rp}
}

// mixed is whether a probe is trap-safe: in the trap context's storm, most are.
func mixed() bool { return inTrap && rand.IntN(8) > 0 }

func (o one) at(pid int, addr uint64) { o.u.Pid, o.u.Vaddr = pid, addr }

func (o one) register() error {
	if o.rp != nil {
		return uprobes.RegisterUretprobe(o.rp)
	}
	return uprobes.RegisterUprobe(o.u)
}

func (o one) unregister() error {
	if o.rp != nil {
		return uprobes.UnregisterUretprobe(o.rp)
	}
	return uprobes.UnregisterUprobe(o.u)
}

func (o one) ledger() ledger.Ledger { return o.u.Ledger() }

// on registers, unregisters, disables and enables probes while a program runs, and returns
// all of them.
func (s *sums) on(t *suites.T, part *part, r *run) (ever []one) {
	var now []one
	for range 80 {
		what := rand.IntN(4)
		switch {
		case what < 2:
			o, err := s.add(part, r, what == 0)
			if err == nil {
				now, ever = append(now, o), append(ever, o)
			} else if !ended(err) {
				t.Errorf("register: %v", err)
			}
		case len(now) == 0:
		case what == 2:
			i := rand.IntN(len(now))
			t.Must(now[i].unregister())
			now = append(now[:i], now[i+1:]...)
		default:
			s.toggle(t, now[rand.IntN(len(now))])
		}
	}
	for _, o := range now {
		if rand.IntN(2) == 0 {
			t.Must(o.unregister())
		}
	}
	return ever
}

// ended reports whether that is why a probe could not be registered or enabled.
func ended(err error) bool { return errors.Is(err, syscall.ESRCH) || errors.Is(err, syscall.EFAULT) }

// add registers a probe at random.
func (s *sums) add(part *part, r *run, atReturn bool) (o one, err error) {
	sym, ok := part.p.syms[part.functions[rand.IntN(len(part.functions))]]
	if !ok {
		return o, syscall.ESRCH
	}
	o = s.newReturn()
	o.at(r.p.PID, sym.Value)
	if !atReturn {
		at := boundariesOf(part.p, sym)
		o = s.newProbe()
		o.at(r.p.PID, at[rand.IntN(len(at))])
	}
	s.probes.Add(1)
	return o, o.register()
}

// toggle disables or enables a probe. One whose process has ended is not registered.
func (s *sums) toggle(t *suites.T, o one) {
	f := uprobes.DisableUprobe
	if rand.IntN(2) == 0 {
		f = uprobes.EnableUprobe
	}
	s.toggles.Add(1)
	if err := f(o.u); err != nil && !errors.Is(err, syscall.EINVAL) && !ended(err) {
		t.Errorf("toggle: %v", err)
	}
}
