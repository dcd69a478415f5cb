package verify

import (
	"math/bits"

	"sonde/bpf"
	"sonde/bpf/verify/scalar"
)

// maxOffset bounds how far pointers are moved, in bytes, so that sums of offsets never wrap.
const maxOffset = 1 << 29

// aluOps are by the upper half of the code.
var aluOps = [16]scalar.Op{bpf.Add >> 4: scalar.Add, bpf.Sub >> 4: scalar.Sub, bpf.Mul >> 4: scalar.Mul, bpf.Div >> 4: scalar.Div,
	bpf.Or >> 4: scalar.Or, bpf.And >> 4: scalar.And, bpf.Lsh >> 4: scalar.Lsh, bpf.Rsh >> 4: scalar.Rsh, bpf.Mod >> 4: scalar.Mod,
	bpf.Xor >> 4: scalar.Xor, bpf.Arsh >> 4: scalar.Arsh}

// arithmetic walks an instruction of the classes ALU and ALU64.
func (w *walk) arithmetic(s *state, in bpf.Insn) {
	w.notR10(in.Dst())
	switch in.Operation() {
	case bpf.Mov:
		w.move(s, in)
	case bpf.Neg:
		dst := w.number(s, in.Dst())
		w.result(s, in, scalar.Neg(dst.n), derived(dst.from, nil))
	case bpf.End:
		dst := w.number(s, in.Dst())
		s.set(in.Dst(), reg{kind: number, n: byteOrder(in, dst.n), from: derived(dst.from, nil)})
	default:
		w.binary(s, in)
	}
}

func (w *walk) notR10(r uint8) {
	if r == bpf.R10 {
		w.refuse("R10 is the frame pointer and read only: expected one of R0 to R9 as the destination")
	}
}

// result sets the destination to v, or to its low half.
func (w *walk) result(s *state, in bpf.Insn, v scalar.Value, from *origin) {
	if !in.Is64() {
		v = v.ZeroExtend(32)
	}
	s.set(in.Dst(), reg{kind: number, n: v, from: from})
}

func (w *walk) move(s *state, in bpf.Insn) {
	if !in.UsesSrc() {
		w.result(s, in, scalar.Const(uint64(int64(in.Imm))), &origin{})
		return
	}
	src := w.written(s, in.Src())
	if in.Is64() && in.Off == 0 {
		w.share(src)
		s.set(in.Dst(), *src)
		return
	}
	v := *w.number(s, in.Src())
	n := v.n
	if in.Off != 0 {
		n = n.SignExtend(uint(in.Off))
	}
	if !in.Is64() {
		n = n.ZeroExtend(32)
	}
	if n == v.n { // nothing is lost: a copy
		w.share(src)
		s.set(in.Dst(), *src)
		return
	}
	s.set(in.Dst(), reg{kind: number, n: n, from: derived(v.from, nil)})
}

// share gives a number that is about to be copied an id.
func (w *walk) share(r *reg) {
	if r.kind == number && r.id == 0 && !r.n.IsConst() {
		r.id = w.newID()
	}
}

func (w *walk) newID() int32 {
	w.ids++
	return w.ids
}

// second is the second operand of arithmetic and jumps.
func (w *walk) second(s *state, in bpf.Insn) *reg {
	if in.UsesSrc() {
		return w.written(s, in.Src())
	}
	r := constant(uint64(int64(in.Imm)))
	return &r
}

func (w *walk) binary(s *state, in bpf.Insn) {
	a, b := w.written(s, in.Dst()), w.second(s, in)
	if !in.UsesSrc() {
		w.fits(in)
	}
	if a.isPointer() || b.isPointer() {
		w.movePointer(s, in, a, b)
		return
	}
	op := in.Operation()
	v := reg{kind: number, from: derived(a.from, b.from)}
	do := scalar.Do32
	if in.Is64() {
		do = scalar.Do
	}
	v.n = do(signedOp(op, in.Off == 1), a.n, b.n)
	if in.UsesSrc() && in.Src() == in.Dst() && (op == bpf.Sub || op == bpf.Xor) {
		v.n = scalar.Const(0)
	}
	if in.Is64() && (op == bpf.Add || op == bpf.Sub) && b.n.IsConst() && a.id != 0 && in.Src() != in.Dst() {
		v.id, v.add = a.id, a.add+int64(b.n.Bits.Value)
		if op == bpf.Sub {
			v.add = a.add - int64(b.n.Bits.Value)
		}
	}
	s.set(in.Dst(), v)
}

// fits refuses constants as operands that no compiler means. RFC 9669 defines what they do; Linux refuses them, too.
func (w *walk) fits(in bpf.Insn) {
	width := int32(32)
	if in.Is64() {
		width = 64
	}
	switch op := in.Operation(); {
	case (op == bpf.Div || op == bpf.Mod) && in.Imm == 0:
		w.unknown("div by zero: the constant divisor is 0")
	case (op == bpf.Lsh || op == bpf.Rsh || op == bpf.Arsh) && (in.Imm < 0 || in.Imm >= width):
		w.unknown("invalid shift %d: expected 0 to %d for a number of %d bits", in.Imm, width-1, width)
	}
}

func signedOp(op uint8, signed bool) scalar.Op {
	switch {
	case signed && op == bpf.Div:
		return scalar.SDiv
	case signed && op == bpf.Mod:
		return scalar.SMod
	}
	return aluOps[op>>4]
}

// movePointer adds a number to a pointer, or takes it away.
func (w *walk) movePointer(s *state, in bpf.Insn, a, b *reg) {
	op, p, n := in.Operation(), a, b
	if !a.isPointer() {
		p, n = b, a
	}
	if n.isPointer() && op == bpf.Sub { // how far they are apart
		w.result(s, in, scalar.Any(), derived(a.from, b.from))
		return
	}
	switch {
	case !in.Is64():
		w.refuse("%s and would be cut to 32 bits: expected arithmetic on 64 bits", w.holds(s, p))
	case op != bpf.Add && op != bpf.Sub, op == bpf.Sub && p == b:
		w.refuse("%s, a pointer: expected + or - of a number as arithmetic on it", w.holds(s, p))
	case n.isPointer():
		w.refuse("both operands are pointers, %s and %s: expected a number to add to a pointer", a, b)
	case p.nullable:
		w.refuse("%s: expected a comparison with 0 before arithmetic", w.holds(s, p))
	case p.kind == toMap || p.kind == function || p.kind == toContext && !n.n.IsConst() && w.program.Type != bpf.Tracepoint:
		w.refuse("%s: arithmetic on it is not allowed", w.holds(s, p))
	case n.n.Smin < -maxOffset || n.n.Smax > maxOffset:
		w.refuse("%s and is moved by %s: expected a number between %d and %d", w.holds(s, p), n, -maxOffset, maxOffset)
	}
	n.from.mark(decided)
	p.from.mark(read)
	v := *p
	v.n = scalar.Do(aluOps[op>>4], p.n, n.n)
	v.from = derived(p.from, nil)
	if v.n.Smin < -maxOffset || v.n.Smax > maxOffset {
		w.refuse("%s and is moved too far, by %s in all: expected at most %d bytes", w.holds(s, p), v.n, maxOffset)
	}
	s.set(in.Dst(), v)
}

func byteOrder(in bpf.Insn, v scalar.Value) scalar.Value {
	v = v.ZeroExtend(uint(in.Imm))
	if !in.Is64() && !in.UsesSrc() {
		return v
	}
	if !v.IsConst() {
		return loaded(int(in.Imm) / 8)
	}
	return scalar.Const(bits.ReverseBytes64(v.Bits.Value) >> (64 - uint(in.Imm)))
}
