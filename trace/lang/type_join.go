package lang

import "slices"

// Fits tells whether values of both types may be in the same map or variable.
func (t Type) fits(o Type) bool {
	switch {
	case t.isInt() && o.isInt(), t.Kind == Unknown, o.Kind == Unknown:
		return true
	case t.Kind != o.Kind:
		return false
	case t.Kind == TupleOf:
		return slices.EqualFunc(t.Elems, o.Elems, Type.fits) && slices.Equal(t.Names, o.Names)
	case t.Kind == ArrayOf:
		return t.Bytes == o.Bytes && t.Elem.fits(*o.Elem)
	case t.Kind == StructOf:
		return t.To.Name == o.To.Name && t.Bytes == o.Bytes
	}
	return t.Low == o.Low && t.High == o.High && t.Step == o.Step && t.Bits == o.Bits && t.Agg == o.Agg
}

// wider returns what has room for values of both types, which fit.
func (t Type) wider(o Type) Type {
	switch {
	case t.Kind == Unknown:
		return o
	case o.Kind == Unknown:
		return t
	case t.Kind == TupleOf:
		t.Elems = slices.Clone(t.Elems)
		for i := range t.Elems {
			t.Elems[i] = t.Elems[i].wider(o.Elems[i])
		}
	case t.Kind == Bool && o.isInt() || t.Kind == Int && o.Kind == Pointer:
		return o
	case t.Kind == Pointer || t.Kind == Int && o.Kind == Bool:
	case t.Kind == Int:
		return t.widerInt(o)
	default:
		t.Bytes, t.Depth = max(t.Bytes, o.Bytes), max(t.Depth, o.Depth)
		t.Signed = t.Signed || o.Signed
	}
	return t
}

// widerInt is wider for numbers: one that is written out takes the sign of the others.
func (t Type) widerInt(o Type) Type {
	w := integer(max(t.Bytes, o.Bytes), t.Signed || o.Signed)
	switch {
	case t.Literal && o.Literal:
		w.Literal = true
	case t.Literal && t.Signed && !o.Signed, o.Literal && o.Signed && !t.Signed:
		w.Signed = false
	case t.Signed != o.Signed:
		w.Bytes = 8
	}
	if t.Enum == o.Enum {
		w.Enum = t.Enum
	}
	return w
}

// inC is the type's size and alignment as C lays it out: what sizeof tells.
func (t Type) inC() (size, align int) {
	switch t.Kind {
	case TupleOf:
		align = 1
		for _, e := range t.Elems {
			s, a := e.inC()
			size, align = (size+a-1)/a*a+s, max(align, a)
		}
		return (size + align - 1) / align * align, align
	case String, ArrayOf, StructOf:
		return t.Bytes, alignOf(t)
	case Int, Bool:
		return t.Bytes, t.Bytes
	case Bytes:
		return 4 + t.Bytes, 4
	}
	return max(8, t.Bytes), 8
}
