package verify

import (
	"encoding/binary"
	"fmt"
	"slices"

	"sonde/bpf"
	"sonde/bpf/verify/scalar"
)

// written returns a register that must hold something.
func (w *walk) written(s *state, r uint8) *reg {
	v := &s.top().regs[r]
	if v.kind == unset {
		w.refuse("R%d !read_ok: it holds nothing, since it was not written: expected a value", r)
	}
	v.from.mark(read)
	return v
}

// number returns a register that must hold a number.
func (w *walk) number(s *state, r uint8) *reg {
	v := w.written(s, r)
	if v.kind != number {
		w.refuse("R%d holds %s: expected a number", r, v)
	}
	return v
}

// holds names the register that v is, and what it holds.
func (w *walk) holds(s *state, v *reg) string {
	for i := range s.top().regs {
		if v == &s.top().regs[i] {
			return fmt.Sprintf("R%d holds %s", i, v)
		}
	}
	return "an operand is " + v.String()
}

// access is a load or store that is to be judged, or a helper's use of memory.
type access struct {
	r     uint8 // the register with the address
	off   int64
	size  int
	write bool
	what  string // for errors: "load of 8 bytes"
}

// base returns what the address points to, if the access lies inside it.
func (w *walk) base(s *state, a access) *reg {
	p := w.written(s, a.r)
	p.from.mark(decided)
	switch {
	case p.kind == number:
		w.refuse("R%d invalid mem access 'scalar': it holds %s: expected a pointer for %s", a.r, p, a.what)
	case p.nullable:
		w.refuse("R%d invalid mem access '%s': it holds %s: expected a comparison with 0 before %s", a.r, p.name(), p, a.what)
	}
	switch p.kind {
	case toStack:
		w.onStack(s, a, p)
	case toValue:
		w.inside(a, p, int64(p.spec.ValueSize), "the value of map "+p.spec.Name)
		w.mapAllows(a, p)
	case toRecord:
		if a.write && p.id == 0 {
			w.refuse("R%d holds %s, the key of an entry, which is read only: %s is not allowed", a.r, p, a.what)
		}
		w.inside(a, p, int64(p.size), "the record")
	case toContext:
	case toKernel:
		if a.write {
			w.refuse("R%d holds %s, memory of the kernel, which is read only: %s is not allowed", a.r, p, a.what)
		}
	default:
		w.refuse("R%d holds %s, which cannot be accessed: expected a pointer to memory for %s", a.r, p, a.what)
	}
	return p
}

// span is the offsets at which the access may begin.
func (a access) span(p *reg) (lo, hi int64) { return p.n.Smin + a.off, p.n.Smax + a.off }

func (w *walk) inside(a access, p *reg, size int64, what string) {
	lo, hi := a.span(p)
	if lo < 0 {
		w.refuse("R%d holds %s: %s at offset %d begins before %s: expected at least 0", a.r, p, a.what, lo, what)
	}
	if hi+int64(a.size) > size {
		w.refuse("R%d holds %s: %s at offset %d ends behind %s, which has %d bytes", a.r, p, a.what, hi, what, size)
	}
}

func (w *walk) onStack(s *state, a access, p *reg) {
	lo, hi := a.span(p)
	if lo < -stackSize || hi+int64(a.size) > 0 {
		where := fmt.Sprintf("fp%+d", lo)
		if lo != hi {
			where = fmt.Sprintf("fp%+d to fp%+d", lo, hi)
		}
		w.refuse("R%d holds %s: %s at %s is outside the stack, which is fp-512 to fp-1", a.r, p, a.what, where)
	}
	w.deepen(s.frames[p.frame].entry, int(-lo))
}

func (w *walk) mapAllows(a access, p *reg) {
	if a.write && p.spec.Flags&bpf.ReadOnlyProgram != 0 {
		w.refuse("R%d points to a value of map %s, which programs may only read: %s is not allowed", a.r, p.spec.Name, a.what)
	}
	if !a.write && p.spec.Flags&bpf.WriteOnlyProgram != 0 {
		w.refuse("R%d points to a value of map %s, which programs may only write: %s is not allowed", a.r, p.spec.Name, a.what)
	}
}

// load walks a load into a register.
func (w *walk) load(s *state, in bpf.Insn) {
	w.notR10(in.Dst())
	a := access{r: in.Src(), off: int64(in.Off), size: in.Size(), what: fmt.Sprintf("a load of %d bytes", in.Size())}
	p := w.base(s, a)
	w.oneKind(p)
	v := numberOf(loaded(a.size))
	switch p.kind {
	case toStack:
		v = w.loadStack(s, a, p)
	case toValue:
		if lo, hi := a.span(p); lo == hi && w.env.Constant[p.spec] != nil {
			v = constant(number64(w.env.Constant[p.spec][lo:][:a.size]))
		}
	case toContext:
		w.loadContext(a, p)
	case toKernel:
		w.probes[w.pc] = true
	}
	if in.Mode() == bpf.MemSX {
		if v.isPointer() {
			w.refuse("a load that sign-extends reads %s: expected a number", &v)
		}
		v = reg{kind: number, n: v.n.SignExtend(uint(8 * a.size)), from: derived(v.from, nil)}
	}
	s.set(in.Dst(), v)
}

// number64 is the number that a load of these bytes gives.
func number64(b []byte) uint64 {
	var word [8]byte
	copy(word[:], b)
	return binary.LittleEndian.Uint64(word[:])
}

func (w *walk) loadStack(s *state, a access, p *reg) reg {
	f := s.frames[p.frame]
	lo, hi := a.span(p)
	if lo != hi {
		if why := f.readable(int(lo), int(hi-lo)+a.size); why != "" {
			w.refuse("R%d holds %s: %s: expected only bytes that hold numbers", a.r, p, why)
		}
		return numberOf(loaded(a.size))
	}
	v, why := f.load(int(lo), a.size)
	if why != "" {
		w.refuse("R%d holds %s: invalid read from stack: %s", a.r, p, why)
	}
	return v
}

func (w *walk) loadContext(a access, p *reg) {
	if !p.isPlain() {
		w.refuse("R%d holds %s, a context pointer that was moved: expected the offset in the instruction", a.r, p)
	}
	off := int(a.off)
	for _, f := range w.context.Fields {
		if off < f.Off || off+a.size > f.Off+f.Size {
			continue
		}
		if off%a.size != 0 || f.Widths&a.size == 0 {
			break
		}
		w.ctx[w.pc] = CtxLoad{PC: w.pc, Off: off, Size: a.size}
		return
	}
	w.refuse("invalid bpf_context access off=%d size=%d: R%d holds %s: %s", off, a.size, a.r, p, w.context)
}

// String tells which loads are allowed.
func (c *Context) String() string {
	text := "a context of type " + c.Name + " has"
	if len(c.Fields) == 0 {
		text += " nothing"
	}
	for i, f := range c.Fields {
		if i > 0 {
			text += ","
		}
		text += fmt.Sprintf(" bytes %d to %d (loads of %s bytes, aligned)", f.Off, f.Off+f.Size-1, widths(f.Widths))
	}
	return text
}

func widths(sum int) string {
	text := ""
	for n := 1; n <= 8; n *= 2 {
		if sum&n == 0 {
			continue
		}
		if text != "" {
			text += ", "
		}
		text += itoa(n)
	}
	return text
}

// isPlain tells whether the pointer is where it was at first.
func (r *reg) isPlain() bool { return r.n.IsConst() && r.n.Smin == 0 }

// oneKind refuses an instruction that accesses the context, or memory that may not be there, on
// one path and something else on another, since it is compiled only once.
func (w *walk) oneKind(p *reg) {
	class := toStack
	if p.kind == toContext || p.kind == toKernel {
		class = p.kind
	}
	if old, ok := w.classes[w.pc]; ok && old != class {
		w.refuse("same insn cannot be used with different pointers: here with %s, on another path with %s", p.name(), kindNames[old])
	}
	w.classes[w.pc] = class
}

// store walks a store of a register or an immediate.
func (w *walk) store(s *state, in bpf.Insn) {
	v := constant(uint64(int64(in.Imm)))
	if in.Class() == bpf.STX {
		v = *w.written(s, in.Src())
	}
	a := access{r: in.Dst(), off: int64(in.Off), size: in.Size(), write: true, what: fmt.Sprintf("a store of %d bytes", in.Size())}
	p := w.base(s, a)
	w.oneKind(p)
	if p.kind == toContext {
		w.refuse("R%d holds %s, which is read only: %s is not allowed", a.r, p, a.what)
	}
	if v.isPointer() && p.kind != toStack {
		w.refuse("R%d leaks addr into %s: it holds %s: expected a number, since pointers may be stored on the stack only", in.Src(), p.name(), &v)
	}
	if p.kind == toStack {
		w.storeStack(s, in, a, p, v)
	}
}

func (w *walk) storeStack(s *state, in bpf.Insn, a access, p *reg, v reg) {
	f := s.frames[p.frame]
	lo, hi := a.span(p)
	switch {
	case v.isPointer() && (lo != hi || a.size < 8 || lo%8 != 0):
		w.refuse("R%d holds %s: expected a store of 8 bytes at a known, aligned offset, to keep what is known of a pointer", in.Src(), &v)
	case v.isPointer() && s.outside(p):
		w.refuse("R%d holds %s: a callback may not leave it on the stack of what it is called for: it may be called again", in.Src(), &v)
	case lo != hi:
		f.havoc(int(lo), int(hi-lo)+a.size, false)
	default:
		if in.Class() == bpf.STX && v.kind == number && v.id == 0 && !v.n.IsConst() {
			src := &s.top().regs[in.Src()]
			w.share(src)
			v = *src
		}
		f.store(int(lo), a.size, v)
	}
}

// outside reports whether a pointer is to the stack of a function that a callback in progress does not end before.
func (s *state) outside(p *reg) bool {
	return slices.ContainsFunc(s.frames[p.frame+1:], func(f *frame) bool { return f.callback })
}

// atomic walks an atomic operation.
func (w *walk) atomic(s *state, in bpf.Insn) {
	w.number(s, in.Src())
	if in.Imm == bpf.Cmpxchg {
		w.number(s, 0)
	}
	a := access{r: in.Dst(), off: int64(in.Off), size: in.Size(), write: true, what: fmt.Sprintf("an atomic operation on %d bytes", in.Size())}
	p := w.base(s, a)
	w.oneKind(p)
	if p.kind == toContext {
		w.refuse("R%d holds %s: %s is not allowed there", a.r, p, a.what)
	}
	sum := scalar.Do(scalar.Add, p.n, scalar.Const(uint64(a.off)))
	if sum.Bits.Max()&uint64(a.size-1) != 0 {
		w.refuse("R%d holds %s: %s at offset %s is not aligned", a.r, p, a.what, sum)
	}
	read := a
	read.write = false
	w.base(s, read)
	if p.kind == toStack {
		w.loadStack(s, a, p)
		lo, hi := a.span(p)
		s.frames[p.frame].havoc(int(lo), int(hi-lo)+a.size, lo == hi)
	}
	switch {
	case in.Imm == bpf.Cmpxchg:
		s.set(0, numberOf(loaded(a.size)))
	case in.Imm&bpf.Fetch != 0:
		w.notR10(in.Src())
		s.set(in.Src(), numberOf(loaded(a.size)))
	}
}
