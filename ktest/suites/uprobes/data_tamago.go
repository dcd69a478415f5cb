//go:build tamago

package uprobes

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"sonde/arch/amd64"
	"sonde/kernel/cpu"
	"sonde/kernel/vfs"
	"sonde/ktest/suites"
	"sonde/linux/proc"
	"sonde/uprobes"
)

// Entry handlers, the data of calls, and how many calls there may be at the same time. The cases
// data_of_calls_with_* are in returns_tamago.go.

func init() {
	both("uprobes/entry_declines", entryDeclines)
	both("uprobes/calls_beyond_max_active_are_missed", func(t *suites.T) { limited(t, 1) })
	both("uprobes/calls_with_much_data", func(t *suites.T) { limited(t, 1000) })
	both("uprobes/data_of_1000_calls_deep", deepData)
	both("uprobes/data_of_two_probes_at_one_function", twoWithData)
	both("uprobes/entry_handler_breaks_off", entryBreaksOff)
	both("uprobes/killed_with_data_in_calls", killedWithData)
	suites.Add("uprobes/killed_in_an_entry_handler", killedInEntry)
	suites.Add("uprobes/entry_handler_registers_probes", entryRegisters)
	suites.Add("uprobes/entry_handler_that_breaks_the_rules_in_trap", entryBreaksRules)
	both("uprobes/data_refused", dataRefused)
}

// withData returns a return probe whose calls know where they were entered, and compare.
func withData(t *suites.T) *uprobes.Uretprobe {
	return &uprobes.Uretprobe{
		DataWords: 3,
		EntryHandler: func(ri *uprobes.UretprobeInstance, r *amd64.Regs) int {
			if len(ri.Data) != 3 || ri.Data[0] != 0 || ri.Data[1] != 0 || ri.Data[2] != 0 {
				t.Errorf("a call begins with %v", ri.Data)
			}
			ri.Data[0], ri.Data[1], ri.Data[2] = r.SP, ri.RetAddr, ^uint64(0)
			return 0
		},
		Handler: func(ri *uprobes.UretprobeInstance, r *amd64.Regs) {
			if len(ri.Data) != 3 || ri.Data[0] != r.SP-8 || ri.Data[1] != r.IP || ri.Data[2] != ^uint64(0) {
				t.Errorf("a call returns to %#x at SP %#x with %#x", r.IP, r.SP, ri.Data)
			}
		},
	}
}

// probeReturns registers a return probe of the present case's way.
func (p *program) probeReturns(t *suites.T, in *proc.Process, rp *uprobes.Uretprobe, function string) {
	rp.U.Pid, rp.U.Vaddr, rp.U.TrapSafe = in.PID, p.addr(t, in, function), inTrap
	t.Must(uprobes.RegisterUretprobe(rp))
}

// account compares what has become of the calls of rp.
func account(t *suites.T, rp *uprobes.Uretprobe, handled, declined, missed, abandoned uint64) {
	l := rp.U.Ledger()
	if l.Handled != handled || l.Declined != declined || l.NoInst != missed || l.Abandoned != abandoned || l.InFlight != 0 || l.Unexplained() != 0 {
		t.Errorf("%+v, want %d handled, %d declined, %d missed, %d abandoned", l, handled, declined, missed, abandoned)
	}
}

// entryDeclines: fib calls itself, and only even arguments are wanted.
func entryDeclines(t *suites.T) {
	p := need(t, "/bin/probed")
	var trapped atomic.Int64
	rp := &uprobes.Uretprobe{
		DataWords: 1,
		EntryHandler: func(ri *uprobes.UretprobeInstance, r *amd64.Regs) int {
			if cpu.InHandler() {
				trapped.Add(1)
			}
			ri.Data[0] = r.DI
			return int(r.DI & 1)
		},
		Handler: func(ri *uprobes.UretprobeInstance, r *amd64.Regs) {
			if n := ri.Data[0]; n&1 != 0 || r.AX != fib(n) {
				t.Errorf("fib(%d) = %d", n, r.AX)
			}
		},
	}
	p.start(t, func(in *proc.Process) { p.probeReturns(t, in, rp, "fib") }, "fib").wait(t, "fib 610\n")
	even := fibCalls(15, func(n uint64) bool { return n&1 == 0 })
	account(t, rp, even, 1973-even, 0, 0)
	if inTrap != (trapped.Load() > 1900) {
		t.Errorf("%d of 1973 entry handlers in trap context", trapped.Load())
	}
}

// fib is probed's.
func fib(n uint64) uint64 {
	if n < 2 {
		return n
	}
	return fib(n-1) + fib(n-2)
}

// fibCalls counts the calls in fib(n) for which f is true.
func fibCalls(n uint64, f func(n uint64) bool) (calls uint64) {
	if f(n) {
		calls++
	}
	if n < 2 {
		return calls
	}
	return calls + fibCalls(n-1, f) + fibCalls(n-2, f)
}

// limited: three calls of fib may be in progress. Beyond keptWords of data, calls are noted in the
// goroutine.
func limited(t *suites.T, words int) {
	p := need(t, "/bin/probed")
	rp := &uprobes.Uretprobe{
		MaxActive: 3,
		DataWords: words,
		EntryHandler: func(ri *uprobes.UretprobeInstance, r *amd64.Regs) int {
			for i := range ri.Data {
				if ri.Data[i] != 0 {
					t.Errorf("word %d is %#x", i, ri.Data[i])
				}
				ri.Data[i] = r.DI + uint64(i)
			}
			return 0
		},
		Handler: func(ri *uprobes.UretprobeInstance, r *amd64.Regs) {
			for i := range ri.Data {
				if ri.Data[i] != ri.Data[0]+uint64(i) {
					t.Errorf("word %d is %#x", i, ri.Data[i])
				}
			}
			if r.AX != fib(ri.Data[0]) {
				t.Errorf("fib(%d) = %d", ri.Data[0], r.AX)
			}
		},
	}
	p.start(t, func(in *proc.Process) { p.probeReturns(t, in, rp, "fib") }, "fib").wait(t, "fib 610\n")
	account(t, rp, 7, 0, 1973-7, 0)
}

// deepData: a function calls itself 1,000 deep, five times, and each of these calls has its own data.
func deepData(t *suites.T) {
	t.NeedPrograms()
	suites.WriteProgram(t, "/deep", []byte{
		0x41, 0xbc, 5, 0, 0, 0, // mov r12d, 5
		0xe8, 14, 0, 0, 0, // call f
		0x41, 0xff, 0xcc, // dec r12d
		0x75, 0xf6, // jnz back
		0x31, 0xff, 0xb8, 60, 0, 0, 0, 0x0f, 0x05, // exit(0)
		0x90, 0x41, 0xff, 0xc5, 0x41, 0x81, 0xfd, 0xe8, 3, 0, 0, // f: nop; inc r13d; cmp r13d, 1000
		0x74, 5, 0xe8, 0xee, 0xff, 0xff, 0xff, // jz over it; call f
		0x41, 0xff, 0xcd, 0xc3, // dec r13d; ret
	})
	defer vfs.Remove("/deep")
	rp := withData(t)
	enter, leave := rp.EntryHandler, rp.Handler
	rp.EntryHandler = func(ri *uprobes.UretprobeInstance, r *amd64.Regs) int {
		enter(ri, r)
		ri.Data[2] = r.R13
		return 0
	}
	rp.Handler = func(ri *uprobes.UretprobeInstance, r *amd64.Regs) {
		if ri.Data[2] != r.R13 {
			t.Errorf("at depth %d a call has the data of depth %d", r.R13, ri.Data[2])
		}
		ri.Data[2] = ^uint64(0)
		leave(ri, r)
	}
	p := suites.StartProgram(t, "/deep", func(p *proc.Process) {
		rp.U.Pid, rp.U.Vaddr, rp.U.TrapSafe = p.PID, suites.ProgramAt+25, inTrap
		t.Must(uprobes.RegisterUretprobe(rp))
	})
	if s := suites.WaitProgram(t, p); s != 0 {
		t.Errorf("%v", s)
	}
	account(t, rp, 5000, 0, 0, 0)
}

// twoWithData: of three probes, two have data, of which one declines, and one has none.
func twoWithData(t *suites.T) {
	p := need(t, "/bin/probed")
	probes := []*uprobes.Uretprobe{withData(t), {Handler: func(*uprobes.UretprobeInstance, *amd64.Regs) {}}, withData(t)}
	enter := probes[0].EntryHandler
	probes[0].EntryHandler = func(ri *uprobes.UretprobeInstance, r *amd64.Regs) int {
		enter(ri, r)
		return int(r.DI & 1)
	}
	p.start(t, func(in *proc.Process) {
		for _, rp := range probes {
			p.probeReturns(t, in, rp, "fib")
		}
	}, "fib").wait(t, "fib 610\n")
	even := fibCalls(15, func(n uint64) bool { return n&1 == 0 })
	account(t, probes[0], even, 1973-even, 0, 0)
	account(t, probes[1], 1973, 0, 0, 0)
	account(t, probes[2], 1973, 0, 0, 0)
}

// entryBreaksOff: an entry handler panics: the probe is disabled, the program continues, the calls before
// are in the account, and so are those after it.
func entryBreaksOff(t *suites.T) {
	p := need(t, "/bin/probed")
	n := 0
	rp, other := withData(t), withData(t)
	enter := rp.EntryHandler
	rp.EntryHandler = func(ri *uprobes.UretprobeInstance, r *amd64.Regs) int {
		if n++; n == 20 {
			panic("of a test")
		}
		return enter(ri, r)
	}
	p.start(t, func(in *proc.Process) {
		p.probeReturns(t, in, rp, "leaf")
		p.probeReturns(t, in, other, "leaf")
	}, "calls").wait(t, "calls 1505500\n")
	account(t, other, 1000, 0, 0, 0)
	if account(t, rp, 19, 0, 0, 1); n != 20 {
		t.Errorf("the handler is called %d times", n)
	}
}

// killedWithData: a process is killed while calls are in progress.
func killedWithData(t *suites.T) {
	p := need(t, "/bin/probed")
	var entered atomic.Int64
	rp := withData(t)
	enter := rp.EntryHandler
	rp.EntryHandler = func(ri *uprobes.UretprobeInstance, r *amd64.Regs) int {
		entered.Add(1)
		return enter(ri, r)
	}
	r := p.start(t, func(in *proc.Process) { p.probeReturns(t, in, rp, "leaf") }, "spins")
	t.Until("calls", func() bool { return entered.Load() > 200 })
	r.kill(t)
	if l := rp.U.Ledger(); l.Handled == 0 || l.Handled+l.Abandoned != l.Entered || l.InFlight != 0 || l.Abandoned > 4 {
		t.Errorf("%+v", l)
	}
}

// killedInEntry: the handler waits for ever, and its process is killed.
func killedInEntry(t *suites.T) {
	p := need(t, "/bin/probed")
	var in atomic.Int64
	over := make(chan bool)
	defer close(over)
	rp := withData(t)
	rp.EntryHandler = func(ri *uprobes.UretprobeInstance, r *amd64.Regs) int {
		if r.DI == 10 {
			in.Add(1)
			<-over
		}
		ri.Data[0], ri.Data[1], ri.Data[2] = r.SP, ri.RetAddr, ^uint64(0)
		return 0
	}
	r := p.start(t, func(in *proc.Process) { p.probeReturns(t, in, rp, "fib") }, "fib")
	t.Until("the handler", func() bool { return in.Load() > 0 })
	time.Sleep(time.Millisecond)
	if l := rp.U.Ledger(); l.InFlight != 6 || l.Entered != 6 {
		t.Errorf("calls of 15 to 10: %+v", l)
	}
	r.kill(t)
	account(t, rp, 0, 0, 0, 6)
}

// entryRegisters: what an entry handler asks for is done after all of them.
func entryRegisters(t *suites.T) {
	p := need(t, "/bin/probed")
	c := newCounter()
	var asked error
	rp := withData(t)
	enter := rp.EntryHandler
	rp.EntryHandler = func(ri *uprobes.UretprobeInstance, r *amd64.Regs) int {
		if c.Pid == 0 {
			c.Pid, c.Vaddr = rp.U.Pid, p.syms["leaf"].Value
			asked = uprobes.RegisterUprobe(&c.Uprobe)
		}
		return enter(ri, r)
	}
	p.start(t, func(in *proc.Process) { p.probeReturns(t, in, rp, "leaf") }, "calls").wait(t, "calls 1505500\n")
	if account(t, rp, 1000, 0, 0, 0); asked != syscall.EINPROGRESS || c.hits() != 999 {
		t.Errorf("%v, then %d hits", asked, c.hits())
	}
}

// entryBreaksRules: it is abandoned, the log says which handler it was, and the call is not noted.
func entryBreaksRules(t *suites.T) {
	defer trapped()()
	p := need(t, "/bin/probed")
	n := 0
	rp, other := withData(t), withData(t)
	rp.EntryHandler = func(ri *uprobes.UretprobeInstance, r *amd64.Regs) int {
		if n++; n == 20 && cpu.InHandler() {
			sink = new([64]byte)
		}
		return 1
	}
	log := logWhile(t, func() {
		p.start(t, func(in *proc.Process) {
			p.probeReturns(t, in, rp, "leaf")
			p.probeReturns(t, in, other, "leaf")
		}, "calls").wait(t, "calls 1505500\n")
	})
	account(t, rp, 0, 19, 0, 1)
	account(t, other, 1000, 0, 0, 0)
	if !strings.Contains(log, "uprobes: handler of ur at ") || !strings.Contains(log, "allocates memory") || !strings.Contains(log, "data_tamago.go") {
		t.Errorf("logged: %s", log)
	}
}

// dataRefused: more than there can be is refused, and says how much that is.
func dataRefused(t *suites.T) {
	p := need(t, "/bin/probed")
	for _, c := range []struct {
		active, words int
		errno         syscall.Errno
		says          string
	}{
		{0, 8193, syscall.ERANGE, "8193 words"}, {0, -1, syscall.ERANGE, "give 0 to 8192"}, {-1, 0, syscall.ERANGE, "MaxActive is -1"},
		{1<<20 + 1, 0, syscall.ERANGE, "give 0 to 1048576"}, {1 << 20, 3, syscall.ENOMEM, "24 MiB, more than 16"}, {1 << 20, 2, 0, ""}, {0, 8192, 0, ""},
	} {
		rp := &uprobes.Uretprobe{MaxActive: c.active, DataWords: c.words, Handler: func(*uprobes.UretprobeInstance, *amd64.Regs) {}}
		rp.U.Path, rp.U.Symbol, rp.U.TrapSafe = p.path, "leaf", inTrap
		err := uprobes.RegisterUretprobe(rp)
		if c.errno == 0 && err == nil {
			t.Must(uprobes.UnregisterUretprobe(rp))
		} else if !errors.Is(err, c.errno) || !strings.Contains(fmt.Sprint(err), c.says) {
			t.Errorf("%d calls with %d words: %v", c.active, c.words, err)
		}
	}
}
