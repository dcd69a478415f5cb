//go:build tamago

package uprobes

import (
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"sonde/arch/amd64"
	"sonde/kernel/abi"
	"sonde/ktest/suites"
	"sonde/linux/proc"
	"sonde/probe/ledger"
	"sonde/uprobes"
)

// returning are functions of probed, in one of its parts.
var returning = []struct {
	name, function, part, out string
	entered, returned         uint64
	sum                       uint64 // of what was returned
}{
	{"one_function", "leaf", "calls", "calls 1505500\n", 1000, 1000, 1505500},
	{"recursion", "fib", "fib", "fib 610\n", 1973, 1973, 6865},
	{"a_tail_call", "tail", "tail", "tail 14950\n", 100, 100, 14950},
	{"threads", "leaf", "threads", "threads 6000000\n", 4000, 4000, 6000000},
	{"forks", "leaf", "forks", "forks 135\n", 10, 10, 135},
	{"vforks", "leaf", "vforks", "vforks 135\n", 10, 10, 135},
	{"fork_in_a_call", "forker", "twice", "twice 10\n", 10, 10, 10}, // the children return, too
	{"longjmp", "jumps", "longjmps", "longjmps 1000\n", 1000, 0, 0},
	{"coroutines", "dive", "coroutines", "coroutines 3300\n", 3300, 3300, 19800},
	{"turns_of_coroutines", "turn", "coroutines", "coroutines 3300\n", 3600, 3600, 300},
	{"what_switches_stacks", "swapcontext", "coroutines", "coroutines 3300\n", 6900, 6900, 0},
	{"calls_around_longjmp", "longjmps", "longjmps", "longjmps 1000\n", 1, 1, 1 << 63},
}

func init() {
	for _, c := range returning {
		both("uprobes/returns_with_"+c.name, func(t *suites.T) {
			returns(t, &uprobes.Uretprobe{}, c.function, c.part, c.out, c.entered, c.returned, c.sum)
		})
		both("uprobes/data_of_calls_with_"+c.name, func(t *suites.T) {
			returns(t, withData(t), c.function, c.part, c.out, c.entered, c.returned, c.sum)
		})
	}
	both("uprobes/returns_of_a_tail_call_and_its_target", tailCalls)
	both("uprobes/returns_with_signals", func(t *suites.T) { returns(t, &uprobes.Uretprobe{}, "leaf", "signals", "signals 0\n", 0, 0, 1<<63) })
	both("uprobes/returns_from_the_first_call", firstCalls)
	both("uprobes/changed_result", changedResult)
	both("uprobes/return_probe_comes_and_goes_while_it_forks", func(t *suites.T) { comesAndGoes(t, "fork") })
	both("uprobes/return_probe_comes_and_goes_while_it_vforks", func(t *suites.T) { comesAndGoes(t, "vfork") })
}

// firstCalls: a return probe comes, or all probes are turned on, while a program calls the function again and
// again. Calls that are seen to begin are seen to return.
func firstCalls(t *suites.T) {
	p := need(t, "/bin/probed")
	r := p.start(t, nil, "spin")
	defer r.kill(t)
	defer uprobes.SetEnabled(true)
	rp := &uprobes.Uretprobe{Handler: func(*uprobes.UretprobeInstance, *amd64.Regs) {}}
	rp.U.Pid, rp.U.Vaddr, rp.U.TrapSafe = r.p.PID, p.addr(t, r.p, "leaf"), inTrap
	for range suites.Rounds(60, 600) {
		t.Must(uprobes.RegisterUretprobe(rp))
		allReturn(t, rp, ledger.Ledger{})
		uprobes.SetEnabled(false)
		t.Must(r.p.Send(proc.SignalOf(abi.SIGSTOP))) // so that no hit is in progress
		t.Until("the program to stop", func() bool { return r.p.State() == "T" })
		before := rp.U.Ledger()
		t.Must(r.p.Send(proc.SignalOf(abi.SIGCONT)))
		time.Sleep(time.Millisecond)
		uprobes.SetEnabled(true)
		allReturn(t, rp, before)
		t.Must(uprobes.UnregisterUretprobe(rp))
	}
}

// allReturn waits until some calls have returned since then, and none is missing. One that was in progress
// then may have returned while there were no breakpoints.
func allReturn(t *suites.T, rp *uprobes.Uretprobe, since ledger.Ledger) {
	t.Until("all calls have returned", func() bool {
		l := rp.U.Ledger()
		return l.Handled > since.Handled+2 && l.Abandoned+l.InFlight <= since.Abandoned+since.InFlight
	})
}

// returns counts the returns of a function and adds up what it returns. A handler that rp has is called,
// too.
func returns(t *suites.T, rp *uprobes.Uretprobe, function, part, out string, entered, returned, sum uint64) {
	p := need(t, "/bin/probed")
	var n, total atomic.Uint64
	also := rp.Handler
	rp.Handler = func(ri *uprobes.UretprobeInstance, r *amd64.Regs) {
		if also != nil {
			also(ri, r)
		}
		n.Add(1)
		total.Add(r.AX)
		if ri.RetAddr != r.IP || ri.RP.U.Vaddr != p.syms[function].Value {
			t.Errorf("it returns to %#x, IP is %#x", ri.RetAddr, r.IP)
		}
	}
	r := p.start(t, func(in *proc.Process) {
		rp.U.Pid, rp.U.Vaddr, rp.U.TrapSafe = in.PID, p.addr(t, in, function), inTrap
		if err := uprobes.RegisterUretprobe(rp); err != nil {
			t.Errorf("register: %v", err)
		}
	}, part)
	r.wait(t, out)
	l := rp.U.Ledger()
	if n.Load() != l.Handled || l.InFlight != 0 || l.Unexplained() != 0 {
		t.Errorf("%d calls of the handler: %+v", n.Load(), l)
	}
	if entered != 0 && (l.Entered != entered || l.Handled != returned) {
		t.Errorf("%d calls, %d returns, want %d, %d: %+v", l.Entered, l.Handled, entered, returned, l)
	}
	if sum != 1<<63 && total.Load() != sum {
		t.Errorf("they return %d in all, want %d", total.Load(), sum)
	}
}

// tailCalls probes a function that ends with a jump to another one, which is probed, too:
// one slot of the stack, two calls.
func tailCalls(t *suites.T) {
	p := need(t, "/bin/probed")
	var order letters
	probes := map[string]*uprobes.Uretprobe{}
	for _, name := range []string{"tail", "leaf"} {
		first := name[0]
		probes[name] = &uprobes.Uretprobe{Handler: func(*uprobes.UretprobeInstance, *amd64.Regs) { order.add(first) }}
		probes[name].U.TrapSafe = inTrap
	}
	r := p.start(t, func(in *proc.Process) {
		for name, rp := range probes {
			rp.U.Pid, rp.U.Vaddr = in.PID, p.addr(t, in, name)
			if err := uprobes.RegisterUretprobe(rp); err != nil {
				t.Errorf("register: %v", err)
			}
		}
	}, "tail")
	r.wait(t, "tail 14950\n")
	if s := order.String(); len(s) != 200 || s[:2] != "lt" {
		t.Errorf("%d returns: %s", len(s), s)
	}
}

// changedResult: the program gets what a handler writes to the registers.
func changedResult(t *suites.T) {
	p := need(t, "/bin/probed")
	rp := &uprobes.Uretprobe{Handler: func(_ *uprobes.UretprobeInstance, r *amd64.Regs) { r.AX++ }}
	r := p.start(t, func(in *proc.Process) {
		rp.U.Pid, rp.U.Vaddr, rp.U.TrapSafe = in.PID, p.addr(t, in, "secret"), inTrap
		if err := uprobes.RegisterUretprobe(rp); err != nil {
			t.Errorf("register: %v", err)
		}
	}, "secret")
	r.wait(t, "secret 42\n")
}

// comesAndGoes sets a return probe on a call that makes children, by file, while a program makes
// them: each child returns from the call by the address that its parent has on the stack.
func comesAndGoes(t *suites.T, call string) {
	p := need(t, "/bin/probed")
	const rounds = 10
	r := p.start(t, func(*proc.Process) {}, slices.Repeat([]string{call + "s"}, rounds)...)
	var returned uint64
	for times := 1; ; times++ {
		rp := &uprobes.Uretprobe{U: uprobes.Uprobe{Path: p.path, Symbol: call, TrapSafe: inTrap}, Handler: func(*uprobes.UretprobeInstance, *amd64.Regs) {}}
		t.Must(uprobes.RegisterUretprobe(rp))
		time.Sleep(500 * time.Microsecond)
		t.Must(uprobes.UnregisterUretprobe(rp))
		returned += rp.U.Ledger().Handled
		select {
		case <-r.p.Done():
			r.wait(t, strings.Repeat(call+"s 135\n", rounds))
			if returned == 0 && times < 1000 { // on a slow host it was over before the first probe
				r = p.start(t, func(*proc.Process) {}, slices.Repeat([]string{call + "s"}, rounds)...)
				continue
			}
			if returned == 0 {
				t.Errorf("nothing returned in %d times: it shows nothing", times)
			}
			return
		default:
		}
	}
}
