//go:build tamago

package optimized

import (
	"sync"
	"sync/atomic"
	"unsafe"

	"sonde/arch/amd64"
	"sonde/arch/amd64/insn"
	"sonde/kernel/notifier"
	"sonde/kprobes"
	"sonde/ktest/suites"
	"sonde/ktest/suites/targets"
)

// How often each instruction of a shape is executed is found out by running it
// under the trap flag; one function at a time.
var tracing struct {
	on             atomic.Bool
	lo, ret, last  uint64
	hi             uint64
	counts         [256]uint64
	repeats, quiet [256]bool
}

var traceOnce = sync.OnceFunc(func() {
	notifier.Die[amd64.VEC_DB].Register(&notifier.Block{Name: "optimized", Priority: 1000, Call: traceStep})
})

// traceStep counts an instruction. Context: trap.
func traceStep(r *amd64.Regs, _ uint64) notifier.Action {
	c := &tracing
	if !c.on.Load() {
		return notifier.Next
	}
	r.Flags |= amd64.RFLAGS_TF
	switch {
	case c.ret == 0 && r.IP == c.lo:
		p := uintptr(r.SP)
		c.ret = **(**uint64)(unsafe.Pointer(&p)) // Safe because: it is the shape's stack
	case c.ret != 0 && r.IP == c.ret:
		c.on.Store(false)
		r.Flags &^= amd64.RFLAGS_TF
	}
	if off := r.IP - c.lo; off < c.hi-c.lo && c.on.Load() && !(c.repeats[off&255] && r.IP == c.last) {
		c.counts[off&255]++
	}
	c.last = r.IP
	return notifier.Stop
}

// executions returns how often all runs of s execute the instruction at each
// offset.
func executions(t *suites.T, s *targets.Shape) map[uintptr]uint64 {
	traceOnce()
	c, fn := &tracing, t.Containing(s.Entry)
	c.lo, c.hi = fn.Addr, fn.End()
	clear(c.counts[:])
	before := map[int]int{} // the instruction before one whose own trap may not come
	last := -1
	insn.Walk(kprobes.Original(s.Entry, uintptr(fn.Size)), func(off int, in insn.Inst) bool {
		if last >= 0 {
			before[off] = last
		}
		c.repeats[off] = in.IsRep()
		last = -1
		if in.IsSti() || in.Map == insn.Map1B && in.Opcode == 0x90 && in.Prefix.Has(insn.PF3) {
			last = off
		}
		return true
	})
	sum := map[uintptr]uint64{}
	for input := range s.Inputs() {
		c.ret, c.last = 0, 0
		c.on.Store(true)
		s.Trace(input, amd64.RFLAGS_TF)
	}
	for off, n := range c.counts {
		if p, ok := before[off]; ok {
			n = c.counts[p]
		}
		sum[uintptr(off)] = n
	}
	return sum
}
