package scalar

import (
	"math"
	"math/bits"
)

// Op is an arithmetic operation of two numbers.
type Op uint8

// The operations. Division by 0 is 0, a remainder by 0 is the dividend, and counts of shifts are
// taken modulo the width.
const (
	Add Op = iota
	Sub
	Mul
	Div
	SDiv
	Mod
	SMod
	And
	Or
	Xor
	Lsh
	Rsh
	Arsh
)

// Do is the operation on all 64 bits.
func Do(op Op, a, b Value) Value {
	if op >= Lsh {
		b = wide(And, b, Const(63))
	}
	r := wide(op, a, b)
	if op == Rsh || op == Arsh || op >= Div && op <= SMod {
		return r // the low half depends on the upper half
	}
	return r.withLowMeet(low32(op, a, b)).deduce()
}

// Do32 is the operation on the low 32 bits; the upper half of the result is 0.
func Do32(op Op, a, b Value) Value {
	if op >= Lsh {
		b = wide(And, b, Const(31))
	}
	return low32(op, a, b)
}

// low32 computes the low 32 bits in 64, where nothing overflows unseen: once on what they are as
// unsigned numbers, once as signed ones. Both have the same low half wherever it depends on
// the low halves of the operands alone.
func low32(op Op, a, b Value) Value {
	switch op {
	case Div, Mod, Rsh:
		return wide(op, a.ZeroExtend(32), b.ZeroExtend(32)).ZeroExtend(32)
	case SDiv, SMod, Arsh:
		return wide(op, a.SignExtend(32), b.SignExtend(32)).ZeroExtend(32)
	}
	return wide(op, a.ZeroExtend(32), b.ZeroExtend(32)).ZeroExtend(32).
		Meet(wide(op, a.SignExtend(32), b.SignExtend(32)).ZeroExtend(32))
}

// ZeroExtend keeps the low n bits; the others become 0. n is 8, 16, 32 or 64.
func (v Value) ZeroExtend(n uint) Value {
	if n == 64 {
		return v
	}
	top := uint64(1)<<n - 1
	r := Range(0, top)
	r.Bits = v.Bits.Low(n)
	switch {
	case n == 32:
		r = r.withLow(v)
		r.Umin, r.Umax = uint64(v.U32min), uint64(v.U32max)
	case v.Umax <= top:
		r.Umin, r.Umax = v.Umin, v.Umax
	case uint64(v.U32max) <= top:
		r.Umin, r.Umax = uint64(v.U32min), uint64(v.U32max)
	}
	r.contradictory = v.contradictory
	return r.deduce()
}

// SignExtend keeps the low n bits and copies the highest of them into all others.
func (v Value) SignExtend(n uint) Value {
	if n == 64 {
		return v
	}
	lo, hi := int64(-1)<<(n-1), int64(1)<<(n-1)-1
	switch {
	case n == 32:
		lo, hi = int64(v.S32min), int64(v.S32max)
	case lo <= v.Smin && v.Smax <= hi:
		return v
	case lo <= int64(v.S32min) && int64(v.S32max) <= hi:
		lo, hi = int64(v.S32min), int64(v.S32max)
	}
	r := SignedRange(lo, hi)
	r = r.Meet(WithBits(v.Bits.signExtend(n)))
	if n == 32 {
		r = r.withLowMeet(v)
	}
	r.contradictory = r.contradictory || v.contradictory
	return r.deduce()
}

// Neg is 0 - v.
func Neg(v Value) Value { return Do(Sub, Const(0), v) }

// wide is op on 64 bits; it leaves the bounds of the low half to deduce. Counts of shifts are below 64.
func wide(op Op, a, b Value) Value {
	r := Any()
	switch op {
	case Add:
		r.Bits = a.Bits.add(b.Bits)
		r.addBounds(a, b)
	case Sub:
		r.Bits = a.Bits.sub(b.Bits)
		r.subBounds(a, b)
	case Mul:
		r.Bits = a.Bits.times(b.Bits)
		r.mulBounds(a, b)
	case And:
		r.Bits = a.Bits.and(b.Bits)
		r.Umax = min(a.Umax, b.Umax)
	case Or:
		r.Bits = a.Bits.or(b.Bits)
		r.Umin = max(a.Umin, b.Umin)
	case Xor:
		r.Bits = a.Bits.xor(b.Bits)
	case Lsh, Rsh, Arsh:
		r.shift(op, a, b)
	default:
		r.divide(op, a, b)
	}
	r.contradictory = a.contradictory || b.contradictory
	return r.deduce()
}

// addBounds: bounds hold if both ends overflow, or neither.
func (r *Value) addBounds(a, b Value) {
	lo, c1 := bits.Add64(a.Umin, b.Umin, 0)
	if hi, c2 := bits.Add64(a.Umax, b.Umax, 0); c1 == c2 {
		r.Umin, r.Umax = lo, hi
	}
	slo, shi := a.Smin+b.Smin, a.Smax+b.Smax
	if (slo < a.Smin) == (b.Smin < 0) && (shi < a.Smax) == (b.Smax < 0) {
		r.Smin, r.Smax = slo, shi
	}
}

func (r *Value) subBounds(a, b Value) {
	lo, c1 := bits.Sub64(a.Umin, b.Umax, 0)
	if hi, c2 := bits.Sub64(a.Umax, b.Umin, 0); c1 == c2 {
		r.Umin, r.Umax = lo, hi
	}
	slo, shi := a.Smin-b.Smax, a.Smax-b.Smin
	if (slo > a.Smin) == (b.Smax < 0) && (shi > a.Smax) == (b.Smin < 0) {
		r.Smin, r.Smax = slo, shi
	}
}

func (r *Value) mulBounds(a, b Value) {
	if over, hi := bits.Mul64(a.Umax, b.Umax); over == 0 {
		r.Umin, r.Umax = a.Umin*b.Umin, hi
	}
	if small(a) && small(b) {
		p := [4]int64{a.Smin * b.Smin, a.Smin * b.Smax, a.Smax * b.Smin, a.Smax * b.Smax}
		r.Smin, r.Smax = min(p[0], p[1], p[2], p[3]), max(p[0], p[1], p[2], p[3])
	}
}

// small tells whether a product of two such values fits into 64 bits.
func small(v Value) bool { return v.Smin >= -math.MaxUint32>>1 && v.Smax <= math.MaxUint32>>1 }

// shift by [b.Umin, b.Umax], which is within [0, 63].
func (r *Value) shift(op Op, a, b Value) {
	lo, hi := uint(b.Umin), uint(b.Umax)
	switch op {
	case Lsh:
		if a.Umax<<hi>>hi == a.Umax {
			r.Umin, r.Umax = a.Umin<<lo, a.Umax<<hi
		}
		if a.Smin<<hi>>hi == a.Smin && a.Smax<<hi>>hi == a.Smax {
			r.Smin, r.Smax = min(a.Smin<<lo, a.Smin<<hi), max(a.Smax<<lo, a.Smax<<hi)
		}
		zeros := min(63, uint(bits.TrailingZeros64(a.Bits.Max()))+lo)
		r.Bits = Tnum{Mask: math.MaxUint64 << zeros}
	case Rsh:
		r.Umin, r.Umax = a.Umin>>hi, a.Umax>>lo
	case Arsh:
		r.Smin, r.Smax = min(a.Smin>>lo, a.Smin>>hi), max(a.Smax>>lo, a.Smax>>hi)
	}
	if lo == hi {
		r.Bits = shiftBits(op, a.Bits, lo)
	}
}

func (r *Value) divide(op Op, a, b Value) {
	switch op {
	case Div:
		r.Umax = a.Umax / max(b.Umin, 1)
		if b.Umin > 0 {
			r.Umin = a.Umin / b.Umax
		} else {
			r.Umin = 0
		}
	case Mod:
		r.Umax = a.Umax
		if b.Umin > a.Umax { // nothing is taken away
			*r = a
		} else if b.Umin > 0 {
			r.Umax = min(a.Umax, b.Umax-1)
		}
	case SDiv:
		if b.Smin > 0 {
			r.Smin, r.Smax = min(a.Smin/b.Smin, a.Smin/b.Smax), max(a.Smax/b.Smin, a.Smax/b.Smax)
		}
	case SMod: // the sign of the dividend
		r.Smin, r.Smax = min(a.Smin, 0), max(a.Smax, 0)
		if b.Smin > 0 {
			r.Smin, r.Smax = max(r.Smin, 1-b.Smax), min(r.Smax, b.Smax-1)
		}
	}
}

func shiftBits(op Op, t Tnum, n uint) Tnum {
	switch op {
	case Lsh:
		return t.lsh(n)
	case Rsh:
		return t.rsh(n)
	}
	return t.arsh(n)
}
