package verify

import (
	"sonde/bpf"
	"sonde/bpf/verify/scalar"
)

// rels are by the upper half of the code.
var rels = [16]scalar.Rel{bpf.Jeq >> 4: scalar.Eq, bpf.Jne >> 4: scalar.Ne, bpf.Jgt >> 4: scalar.Gt, bpf.Jge >> 4: scalar.Ge, bpf.Jlt >> 4: scalar.Lt,
	bpf.Jle >> 4: scalar.Le, bpf.Jsgt >> 4: scalar.SGt, bpf.Jsge >> 4: scalar.SGe, bpf.Jslt >> 4: scalar.SLt, bpf.Jsle >> 4: scalar.SLe, bpf.Jset >> 4: scalar.Set}

// branch walks a conditional jump: it returns the states of the sides that can be taken. A side
// that cannot is nil.
func (w *walk) branch(s *state, in bpf.Insn) (taken, not *state) {
	a, b := w.written(s, in.Dst()), w.second(s, in)
	switch {
	case a.isPointer() || b.isPointer():
		taken, not = w.comparePointers(s, in, a, b)
	default:
		taken, not = w.compareNumbers(s, in)
		if taken == nil || not == nil { // what is known has decided it
			a.from.mark(decided)
			b.from.mark(decided)
		}
	}
	for _, side := range []*state{taken, not} {
		if side != nil {
			side.top().changed |= 1<<in.Dst() | 1<<in.Src()
		}
	}
	if taken != nil {
		taken.pc = w.flow.target(w.pc)
	}
	if not != nil {
		not.pc = w.pc + 1
	}
	return taken, not
}

func (w *walk) compareNumbers(s *state, in bpf.Insn) (taken, not *state) {
	rel := rels[in.Operation()>>4]
	taken, not = s.clone(), s
	if !w.narrow(taken, in, rel) {
		taken = nil
	}
	if !w.narrow(s, in, rel.Not()) {
		not = nil
	}
	return taken, not
}

// narrow has a state learn that the comparison holds. It returns false if it cannot hold.
func (w *walk) narrow(s *state, in bpf.Insn, rel scalar.Rel) bool {
	f := s.top()
	a := f.regs[in.Dst()]
	b := *w.second(s, in)
	refine := scalar.Refine32
	if in.Is64() {
		refine = scalar.Refine
	}
	x, y := refine(rel, a.n, b.n)
	if in.UsesSrc() && in.Src() == in.Dst() {
		x = x.Meet(y)
		y = x
	}
	if x.Empty() || y.Empty() {
		return false
	}
	ok := w.learn(s, in.Dst(), a, x, b.from)
	if in.UsesSrc() && in.Src() != in.Dst() && ok {
		ok = w.learn(s, in.Src(), b, y, a.from)
	}
	return ok
}

// learn sets what is known of a register, and of all copies of it. It depends on the other
// operand, too. It returns false if that cannot be; where a copy tells so, what is known of the copy
// has decided the comparison.
func (w *walk) learn(s *state, r uint8, old reg, n scalar.Value, other *origin) bool {
	now := &s.top().regs[r]
	now.n = now.n.Meet(n)
	now.from = refined(old.from, other)
	if old.id == 0 || now.n.Empty() {
		return !now.n.Empty()
	}
	learned, from, possible := now.n, now.from, true
	s.each(func(v *reg) {
		if v.kind != number || v.id != old.id {
			return
		}
		w.values++
		n := v.n.Meet(scalar.Do(scalar.Add, learned, scalar.Const(uint64(v.add-old.add))))
		if n.Empty() && possible {
			v.from.mark(decided)
			possible = false
		}
		if n != v.n {
			v.n, v.from = n, refined(v.from, from)
		}
	})
	return possible
}

// comparePointers walks a comparison with a pointer. It tells something if it is == or != of a pointer with 0;
// any other is allowed, since programs may learn addresses.
func (w *walk) comparePointers(s *state, in bpf.Insn, a, b *reg) (taken, not *state) {
	op, p, n := in.Operation(), a, b
	if !a.isPointer() {
		p, n = b, a
	}
	if op != bpf.Jeq && op != bpf.Jne || !in.Is64() || !n.isConst(0) {
		return s.clone(), s
	}
	n.from.mark(decided)
	isNull, isNot := w.splitNull(s, *p)
	if op == bpf.Jeq {
		return isNull, isNot
	}
	return isNot, isNull
}

// splitNull returns the states in which p is 0 and in which it is not. One of them may be nil.
func (w *walk) splitNull(s *state, p reg) (isNull, isNot *state) {
	p.from.mark(read)
	switch {
	case p.kind == toKernel:
		return s.clone(), s
	case !p.nullable:
		p.from.mark(decided)
		return nil, s
	}
	isNull, isNot = s.clone(), s
	isNull.each(func(v *reg) {
		if v.nullable && v.id == p.id {
			*v = reg{kind: number, n: scalar.Const(0), from: refined(v.from, p.from)}
		}
	})
	isNull.release(p.id) // a record that was not reserved
	isNot.each(func(v *reg) {
		if v.nullable && v.id == p.id {
			v.nullable = false
			v.from = refined(v.from, p.from)
			if v.kind != toRecord {
				v.id = 0
			}
		}
	})
	return isNull, isNot
}

// release takes a reference away, and tells whether it was there.
func (s *state) release(id int32) bool {
	for i, r := range s.refs {
		if r.id == id {
			s.refs = append(s.refs[:i:i], s.refs[i+1:]...)
			return true
		}
	}
	return false
}
