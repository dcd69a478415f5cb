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
	"sonde/qemu/suites"
	"sonde/qemu/suites/targets"
)

func init() {
	suites.Add("optimized/every_boundary_of_every_shape", everyShape)
	suites.Add("optimized/every_boundary_of_every_go_function", everyFunction)
	suites.Add("optimized/every_fifth_byte_at_once", severalAtOnce)
}

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
	c, fn := &tracing, function(t, s.Entry)
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

// everyShape sets a probe on each instruction of each shape that a jump can
// replace, and compares all registers, flags, memory, and the number of hits.
func everyShape(t *suites.T) {
	all, done, hits := 0, 0, uint64(0)
	for _, s := range targets.Shapes() {
		want, err := s.Run()
		t.Must(err)
		often := executions(t, &s)
		for _, off := range boundaries(t, function(t, s.Entry)) {
			all++
			k := at(s.Entry+off, func(*kprobes.Kprobe, *amd64.Regs) int { targets.Clobber(); return 0 })
			if kprobes.RegisterKprobe(k) != nil {
				continue
			}
			optimize(t)
			jumped := kprobes.Optimized(k.Addr)
			got, err := s.Run()
			kprobes.UnregisterKprobe(k)
			if !jumped {
				continue
			}
			done++
			if err != nil {
				t.Errorf("jump at %s+%#x: %v", s.Name, off, err)
			}
			for i := range got {
				if d := got[i].Diff(&want[i]); d != "" {
					t.Errorf("jump at %s+%#x, input %d: %s", s.Name, off, i, d)
				}
			}
			account(t, k, s.Name, often[off], 0)
			hits += k.Hits()
		}
	}
	clean(t)
	t.Logf("%d of %d places optimized, %d hits", done, all, hits)
	if done < all/3 { // shapes are short: many end within the jump
		t.Errorf("too few")
	}
}

// everyFunction does so with what the compiler makes, where only the entry's
// number of hits is known.
func everyFunction(t *suites.T) {
	all, done := 0, 0
	for _, f := range targets.Funcs() {
		k := &kprobes.Kprobe{SymbolName: targetsPkg + f.Name}
		register(t, k)
		addr := k.Addr
		kprobes.UnregisterKprobe(k)
		for _, off := range boundaries(t, function(t, addr)) {
			all++
			k := at(addr+off, func(*kprobes.Kprobe, *amd64.Regs) int { targets.Clobber(); return 0 })
			if kprobes.RegisterKprobe(k) != nil {
				continue
			}
			optimize(t)
			if kprobes.Optimized(k.Addr) {
				done++
			} else if off == 0 {
				t.Errorf("%s: the entry is not optimized", f.Name)
			}
			if got := f.Call(); got != f.Want {
				t.Errorf("%s with a jump at +%#x returns %d, want %d", f.Name, off, got, f.Want)
			}
			kprobes.UnregisterKprobe(k)
			if hits := k.Hits(); off > 0 {
				account(t, k, f.Name, hits, 0)
			} else {
				account(t, k, f.Name, f.Calls, 0)
			}
		}
	}
	clean(t)
	t.Logf("%d of %d places optimized", done, all)
	if done < all*7/10 {
		t.Errorf("too few")
	}
}

// severalAtOnce has as many jumps in one function as there is room for.
func severalAtOnce(t *suites.T) {
	most := 0
	for _, f := range targets.Funcs() {
		k := &kprobes.Kprobe{SymbolName: targetsPkg + f.Name}
		register(t, k)
		addr := k.Addr
		kprobes.UnregisterKprobe(k)
		var ks []*kprobes.Kprobe
		next := uintptr(0)
		for _, off := range boundaries(t, function(t, addr)) {
			if off < next {
				continue
			}
			k := at(addr+off, pre)
			if kprobes.RegisterKprobe(k) != nil {
				continue
			}
			ks = append(ks, k)
			next = off + 20
			if len(ks) == 1 {
				next = off + 40 // behind the stack check
			}
		}
		optimize(t)
		n := 0
		for _, k := range ks {
			if kprobes.Optimized(k.Addr) {
				n++
			}
		}
		for range 3 {
			if got := f.Call(); got != f.Want {
				t.Errorf("%s with %d jumps returns %d, want %d", f.Name, n, got, f.Want)
			}
		}
		kprobes.UnregisterKprobes(ks)
		account(t, ks[0], f.Name, 3*f.Calls, 0)
		most = max(most, n)
	}
	clean(t)
	t.Logf("up to %d jumps in one function", most)
	if most < 3 {
		t.Errorf("too few")
	}
}
