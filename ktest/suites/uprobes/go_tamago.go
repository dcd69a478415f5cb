//go:build tamago

package uprobes

import (
	"errors"
	"strings"
	"sync/atomic"
	"syscall"

	"sonde/arch/amd64"
	"sonde/kernel/cpu"
	"sonde/ktest/suites"
	"sonde/linux/proc"
	"sonde/uprobes"
)

func init() {
	both("uprobes/go_returns_while_stacks_grow", goReturns)
	both("uprobes/go_return_probe_disabled_beside_another", goDisabled)
	both("uprobes/go_data_while_stacks_grow", goData)
	both("uprobes/go_data_of_calls_that_panic", goPanics)
	both("uprobes/go_data_in_assembly_is_refused", goAsm)
	both("uprobes/by_symbol", bySymbol)
	both("uprobes/inside_an_instruction_is_refused", inside)
}

// goReturns: a return probe on a recursive Go function, whose stack grows and moves.
func goReturns(t *suites.T) {
	p := need(t, "/bin/gothreads")
	plain := p.start(t, func(*proc.Process) {})
	<-plain.p.Done()
	want := plain.out.String()
	plain.kill(t)
	const name, calls = "main.deep", 20 * 1001
	entries := newCounter()
	var n atomic.Int64
	rp := &uprobes.Uretprobe{Handler: func(ri *uprobes.UretprobeInstance, r *amd64.Regs) {
		n.Add(1)
		if ri.RetAddr != r.IP {
			t.Errorf("%#x, IP %#x", ri.RetAddr, r.IP)
		}
	}}
	r := p.start(t, func(in *proc.Process) {
		p.probe(t, in, &entries.Uprobe, name)
		rp.U.Pid, rp.U.Vaddr, rp.U.TrapSafe = in.PID, p.addr(t, in, name), inTrap
		if err := uprobes.RegisterUretprobe(rp); err != nil {
			t.Errorf("%v", err)
		}
	})
	r.wait(t, want)
	entries.way(t)
	if entries.hits() != calls {
		t.Errorf("%d entries, want %d", entries.hits(), calls)
	}
	if l := rp.U.Ledger(); l.Handled != calls || l.Unexplained() != 0 || l.InFlight != 0 || n.Load() != calls {
		t.Errorf("%d returns, want %d: %+v", n.Load(), calls, l)
	}
}

// goDisabled: a return instruction has two probes, one of them disabled.
func goDisabled(t *suites.T) {
	p := need(t, "/bin/gothreads")
	const name, calls = "main.deep", 20 * 1001
	var rps [2]*uprobes.Uretprobe
	var n [2]atomic.Int64
	r := p.start(t, func(in *proc.Process) {
		for i := range rps {
			rps[i] = &uprobes.Uretprobe{Handler: func(*uprobes.UretprobeInstance, *amd64.Regs) { n[i].Add(1) }}
			rps[i].U.Pid, rps[i].U.Vaddr, rps[i].U.TrapSafe = in.PID, p.addr(t, in, name), inTrap
			t.Must(uprobes.RegisterUretprobe(rps[i]))
		}
		t.Must(uprobes.DisableUretprobe(rps[0]))
	})
	r.wait(t, r.end())
	if l := rps[0].U.Ledger(); n[0].Load() != 0 || l.Disarmed != calls || l.Handled != 0 || l.Unexplained() != 0 {
		t.Errorf("the disabled one is called %d times: %+v", n[0].Load(), l)
	}
	if l := rps[1].U.Ledger(); n[1].Load() != calls || l.Handled != calls || l.Unexplained() != 0 {
		t.Errorf("the other is called %d times: %+v", n[1].Load(), l)
	}
}

// end waits until the program has ended, and returns what it has printed.
func (r *run) end() string {
	<-r.p.Done()
	return r.out.String()
}

func bySymbol(t *suites.T) {
	p := need(t, "/bin/probed")
	c := newCounter()
	c.Path, c.Symbol = p.path, "leaf"
	t.Must(uprobes.RegisterUprobe(&c.Uprobe))
	p.start(t, func(*proc.Process) {}, "calls").wait(t, "calls 1505500\n")
	t.Must(uprobes.UnregisterUprobe(&c.Uprobe))
	if c.hits() != 1000 {
		t.Errorf("%d hits", c.hits())
	}
	for _, x := range []struct {
		symbol string
		off    uint64
		errno  syscall.Errno
	}{{"no_such_function", 0, syscall.ENOENT}, {"leaf", 1, syscall.EILSEQ}, {"strlen", 0, syscall.EOPNOTSUPP}} {
		u := &uprobes.Uprobe{Path: p.path, Symbol: x.symbol, Offset: x.off, Handler: nothing}
		if err := uprobes.RegisterUprobe(u); !errors.Is(err, x.errno) {
			t.Errorf("%s+%d: %v", x.symbol, x.off, err)
		}
	}
}

// inside: every byte of a function at which no instruction begins is refused, and nothing
// else is.
func inside(t *suites.T) {
	p := need(t, "/bin/probed")
	r := p.start(t, func(in *proc.Process) {
		s := p.syms["worker"]
		begins := boundaries(t, in, s.Value, s.Size)
		for at := s.Value; at < s.Value+s.Size; at++ {
			u := &uprobes.Uprobe{Pid: in.PID, Vaddr: at, TrapSafe: inTrap, Handler: nothing}
			err := uprobes.RegisterUprobe(u)
			if len(begins) > 0 && at == begins[0] {
				t.Must(err)
				t.Must(uprobes.UnregisterUprobe(u))
				begins = begins[1:]
			} else if !errors.Is(err, syscall.EILSEQ) || !strings.Contains(err.Error(), "worker") {
				t.Errorf("%#x: %v", at, err)
			}
		}
	}, "calls")
	r.wait(t, "calls 1505500\n")
}

// goData: the calls of a recursive function have data, while its stack grows and moves, and its goroutines
// continue in other threads. Odd ones are not wanted.
func goData(t *suites.T) {
	p := need(t, "/bin/gothreads")
	var n, trapped, wrong atomic.Int64
	rp := &uprobes.Uretprobe{
		DataWords: 2,
		EntryHandler: func(ri *uprobes.UretprobeInstance, r *amd64.Regs) int {
			if ri.Data[0]|ri.Data[1] != 0 {
				wrong.Add(1)
			}
			ri.Data[0], ri.Data[1] = r.AX, ri.RetAddr
			return int(r.AX & 1)
		},
		Handler: func(ri *uprobes.UretprobeInstance, r *amd64.Regs) {
			n.Add(1)
			if cpu.InHandler() {
				trapped.Add(1)
			}
			if ri.Data[0] != r.AX || ri.Data[1] != r.IP || ri.RetAddr != r.IP {
				wrong.Add(1)
			}
		},
	}
	r := p.start(t, func(in *proc.Process) { p.probeReturns(t, in, rp, "main.deep") })
	r.wait(t, r.end())
	const even = 20 * 501
	if account(t, rp, even, 20*500, 0, 0); n.Load() != even || wrong.Load() != 0 {
		t.Errorf("%d returns, %d with the data of another call", n.Load(), wrong.Load())
	}
	if inTrap != (trapped.Load() > even/2) {
		t.Errorf("%d of %d in trap context", trapped.Load(), n.Load())
	}
}

// goPanics: a panic skips calls, which are in the account.
func goPanics(t *suites.T) {
	p := need(t, "/bin/gothreads")
	rp := &uprobes.Uretprobe{DataWords: 1, Handler: func(*uprobes.UretprobeInstance, *amd64.Regs) {}}
	r := p.start(t, func(in *proc.Process) { p.probeReturns(t, in, rp, "main.skipped") })
	r.wait(t, r.end())
	account(t, rp, 300, 0, 0, 600)
}

// goAsm: assembly may use the register that says whose call it is.
func goAsm(t *suites.T) {
	p := need(t, "/bin/gothreads")
	for _, words := range []int{0, 1} {
		rp := &uprobes.Uretprobe{DataWords: words, Handler: func(*uprobes.UretprobeInstance, *amd64.Regs) {}}
		rp.U.Path, rp.U.Symbol, rp.U.TrapSafe = p.path, "runtime.memmove", inTrap
		err := uprobes.RegisterUretprobe(rp)
		if words == 0 {
			t.Must(err)
			t.Must(uprobes.UnregisterUretprobe(rp))
		} else if !errors.Is(err, syscall.EOPNOTSUPP) || !strings.Contains(err.Error(), "R14") {
			t.Errorf("%v", err)
		}
	}
}
