//go:build tamago

package uprobes

import (
	"errors"
	"strings"
	"sync/atomic"
	"syscall"

	"sonde/arch/amd64"
	"sonde/ktest/suites"
	"sonde/linux/proc"
	"sonde/uprobes"
)

func init() {
	both("go_returns_while_stacks_grow", goReturns)
	both("by_symbol", bySymbol)
	suites.Add("uprobes/inside_an_instruction_is_refused", inside)
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
			u := &uprobes.Uprobe{Pid: in.PID, Vaddr: at, Handler: nothing}
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
