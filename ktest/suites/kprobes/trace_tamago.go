//go:build tamago

package kprobes

import (
	"sync"
	"sync/atomic"

	"sonde/arch/amd64"
	"sonde/arch/amd64/insn"
	"sonde/kallsyms"
	"sonde/kernel/notifier"
	"sonde/ktest/suites"
	"sonde/ktest/suites/targets"
)

// How often each instruction of a shape is executed is found out without any
// probe: the shape is run once with the trap flag set, where it stands, and a
// handler of our own counts the addresses. It is what hits are compared with.

// tracer counts the instructions of one function.
type tracer struct {
	on     atomic.Bool
	lo, hi uint64
	ret    uint64 // where the function returns to; 0 until it is entered
	last   uint64
	rep    [256]bool // a repeated instruction traps after every round
	counts [256]uint32
}

var trace tracer

var traceOnce = sync.OnceFunc(func() {
	notifier.Die[amd64.VEC_DB].Register(&notifier.Block{Name: "tests", Priority: 1000, Call: trace.step})
})

// step is called for every debug trap. While tracing no probe is set, so that
// they are ours.
//
// Context: trap.
func (c *tracer) step(r *amd64.Regs, _ uint64) notifier.Action {
	if !c.on.Load() {
		return notifier.Next
	}
	r.Flags |= amd64.RFLAGS_TF // popf may have cleared it
	switch {
	case c.ret == 0 && r.IP == c.lo:
		c.ret = word(r.SP)
	case c.ret != 0 && r.IP == c.ret:
		c.on.Store(false)
		r.Flags &^= amd64.RFLAGS_TF
	}
	if off := r.IP - c.lo; r.IP >= c.lo && r.IP < c.hi && c.on.Load() {
		if !c.rep[off&255] || r.IP != c.last {
			c.counts[off&255]++
		}
	}
	c.last = r.IP
	return notifier.Stop
}

// executions returns how often all runs of s execute the instruction at each
// offset.
func executions(t *suites.T, s *targets.Shape, fn kallsyms.Symbol, offs []uintptr, list []insn.Inst) map[uintptr]uint64 {
	traceOnce()
	if fn.Size > uint64(len(trace.counts)) {
		t.Fatalf("%s has %d bytes", s.Name, fn.Size)
	}
	sum := map[uintptr]uint64{}
	for input := range s.Inputs() {
		trace.lo, trace.hi, trace.ret, trace.last = fn.Addr, fn.End(), 0, 0
		clear(trace.counts[:])
		for i, off := range offs {
			trace.rep[off] = list[i].IsRep()
		}
		trace.on.Store(true)
		s.Trace(input, amd64.RFLAGS_TF)
		if trace.on.Load() {
			t.Fatalf("%s, input %d: the trace did not end", s.Name, input)
		}
		for i, off := range offs {
			n := trace.counts[off]
			if n == 0 && i > 0 && hidesTrap(&list[i-1]) {
				n = trace.counts[offs[i-1]]
			}
			sum[off] += uint64(n)
		}
	}
	return sum
}

// hidesTrap reports whether the trap after in may not come: that after STI
// need not, and QEMU's emulator leaves out the one after PAUSE.
func hidesTrap(in *insn.Inst) bool {
	return in.IsSti() || in.Map == insn.Map1B && in.Opcode == 0x90 && in.Prefix.Has(insn.PF3)
}
