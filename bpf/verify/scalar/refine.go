package scalar

import "math"

// Rel is a comparison of two numbers.
type Rel uint8

// The comparisons; Set is "some bit is set in both", and S stands for signed.
const (
	Eq Rel = iota
	Ne
	Lt
	Ge
	Gt // Lt with its operands exchanged
	Le // Ge with its operands exchanged
	SLt
	SGe
	SGt
	SLe
	Set
	Clear
)

// Not is the comparison that holds exactly where r does not.
func (r Rel) Not() Rel { return r ^ 1 }

// Refine narrows a and b by the knowledge that the comparison holds. A result that is empty says that it never does.
func Refine(r Rel, a, b Value) (Value, Value) {
	switch r {
	case Eq:
		m := a.Meet(b)
		return m, m
	case Ne:
		return without(a, b), without(b, a)
	case Gt, Le, SGt, SLe:
		b, a = Refine(r-2, b, a)
		return a, b
	case Set, Clear:
		return bitwise(r, a, b), bitwise(r, b, a)
	}
	switch r {
	case Lt:
		a.contradictory = a.contradictory || b.Umax == 0
		a.Umax = min(a.Umax, b.Umax-1)
		b.Umin = max(b.Umin, a.Umin+1)
	case Ge:
		a.Umin, b.Umax = max(a.Umin, b.Umin), min(b.Umax, a.Umax)
	case SLt:
		a.contradictory = a.contradictory || b.Smax == math.MinInt64
		a.Smax = min(a.Smax, b.Smax-1)
		b.Smin = max(b.Smin, a.Smin+1)
	case SGe:
		a.Smin, b.Smax = max(a.Smin, b.Smin), min(b.Smax, a.Smax)
	}
	return a.deduce(), b.deduce()
}

// Refine32 is Refine for a comparison of the low 32 bits.
func Refine32(r Rel, a, b Value) (Value, Value) {
	extend := Value.ZeroExtend
	if r >= SLt && r <= SLe {
		extend = Value.SignExtend
	}
	x, y := Refine(r, extend(a, 32), extend(b, 32))
	return a.MeetLow(x), b.MeetLow(y)
}

// without takes b out of a, where b is one number at an end of a's bounds.
func without(a, b Value) Value {
	if !b.IsConst() {
		return a
	}
	n := b.Bits.Value
	if a.IsConst() {
		a.contradictory = a.contradictory || a.Bits.Value == n
		return a
	}
	if a.Umin == n {
		a.Umin++
	}
	if a.Umax == n {
		a.Umax--
	}
	if a.Smin == int64(n) {
		a.Smin++
	}
	if a.Smax == int64(n) {
		a.Smax--
	}
	return a.deduce()
}

// bitwise narrows a by the knowledge that a and b have a bit in common (Set), or none (Clear).
func bitwise(r Rel, a, b Value) Value {
	known, possible := b.Bits.Value, a.Bits.Max()&b.Bits.Max()
	switch {
	case r == Clear:
		a.contradictory = a.contradictory || a.Bits.Value&known != 0
		a.Bits = Tnum{Value: a.Bits.Value &^ known, Mask: a.Bits.Mask &^ known}
	case possible == 0:
		a.contradictory = true
	case possible&(possible-1) == 0: // only one bit can be the common one
		a.Bits = Tnum{Value: a.Bits.Value | possible, Mask: a.Bits.Mask &^ possible}
	}
	return a.deduce()
}
