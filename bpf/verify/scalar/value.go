// Package scalar is arithmetic on what is known of a 64-bit number: its bits and its bounds.
//
// A Value stands for a set of numbers. Each operation returns a Value that has the result for
// every number of its operands; it may have more. That is all that a verifier needs to be sound,
// and what the tests check. What is known is kept in five forms, since each loses what
// another keeps: known bits, and unsigned and signed bounds of all 64 bits and of the low 32.
// deduce carries what one form knows to the others.
//
// Source: RFC 9669, "BPF Instruction Set Architecture (ISA)", for what the operations do; Linux,
// Documentation/bpf/verifier.rst, "Register value tracking", for the forms.
package scalar

import (
	"fmt"
	"math"
	"strings"
)

// Value is a set of 64-bit numbers. All bounds are inclusive.
type Value struct {
	Bits           Tnum
	Umin, Umax     uint64
	Smin, Smax     int64
	U32min, U32max uint32 // of the low 32 bits
	S32min, S32max int32
	contradictory  bool // no number at all
}

// Any is all numbers.
func Any() Value {
	return Value{Bits: AnyBits, Umax: math.MaxUint64, Smin: math.MinInt64, Smax: math.MaxInt64,
		U32max: math.MaxUint32, S32min: math.MinInt32, S32max: math.MaxInt32}
}

// Const is one number.
func Const(v uint64) Value {
	return Value{Bits: ConstBits(v), Umin: v, Umax: v, Smin: int64(v), Smax: int64(v),
		U32min: uint32(v), U32max: uint32(v), S32min: int32(v), S32max: int32(v)}
}

// Range is the numbers of [lo, hi], seen as unsigned.
func Range(lo, hi uint64) Value {
	v := Any()
	v.Umin, v.Umax = lo, hi
	return v.deduce()
}

// SignedRange is the numbers of [lo, hi], seen as signed.
func SignedRange(lo, hi int64) Value {
	v := Any()
	v.Smin, v.Smax = lo, hi
	return v.deduce()
}

// WithBits is the numbers that have the known bits of t.
func WithBits(t Tnum) Value {
	v := Any()
	v.Bits = t
	return v.deduce()
}

// Empty tells that no number is left: the branch that would need one is never taken.
func (v Value) Empty() bool { return v.contradictory }

// IsConst tells whether v is exactly one number.
func (v Value) IsConst() bool { return v.Bits.Const() && !v.contradictory }

// Within tells whether every number of v is one of w. It may say no where it is so.
func (v Value) Within(w Value) bool {
	if v.contradictory || w.contradictory {
		return v.contradictory
	}
	return v.Bits.Within(w.Bits) && w.Umin <= v.Umin && v.Umax <= w.Umax && w.Smin <= v.Smin && v.Smax <= w.Smax &&
		w.U32min <= v.U32min && v.U32max <= w.U32max && w.S32min <= v.S32min && v.S32max <= w.S32max
}

// Meet is the numbers that are in both v and w.
func (v Value) Meet(w Value) Value {
	t, ok := v.Bits.Meet(w.Bits)
	m := Value{Bits: t, Umin: max(v.Umin, w.Umin), Umax: min(v.Umax, w.Umax), Smin: max(v.Smin, w.Smin), Smax: min(v.Smax, w.Smax),
		contradictory: !ok || v.contradictory || w.contradictory}
	return m.withLow(v).withLowMeet(w).deduce()
}

// withLow replaces the 32-bit bounds by those of w.
func (v Value) withLow(w Value) Value {
	v.U32min, v.U32max, v.S32min, v.S32max = w.U32min, w.U32max, w.S32min, w.S32max
	return v
}

// withLowMeet narrows the 32-bit bounds by those of w.
func (v Value) withLowMeet(w Value) Value {
	v.U32min, v.U32max = max(v.U32min, w.U32min), min(v.U32max, w.U32max)
	v.S32min, v.S32max = max(v.S32min, w.S32min), min(v.S32max, w.S32max)
	return v
}

// MeetLow is the numbers of v whose low 32 bits are the low 32 bits of a number of w.
func (v Value) MeetLow(w Value) Value {
	// Whatever w knows of the upper bits says nothing about v.
	low := Tnum{Value: w.Bits.Value & math.MaxUint32, Mask: w.Bits.Mask | math.MaxUint32<<32}
	t, ok := v.Bits.Meet(low)
	v.Bits, v.contradictory = t, v.contradictory || w.contradictory || !ok
	return v.withLowMeet(w).deduce()
}

// String is the log's form: "0x5" for a constant, or what is known in parentheses.
func (v Value) String() string {
	if v.contradictory {
		return "(none)"
	}
	if v.IsConst() {
		if n := int64(v.Bits.Value); n > -4096 && n < 65536 {
			return fmt.Sprint(n)
		}
		return fmt.Sprintf("%#x", v.Bits.Value)
	}
	var parts []string
	say := func(show bool, name string, n any) {
		if show {
			parts = append(parts, fmt.Sprintf("%s=%v", name, n))
		}
	}
	say(v.Smin != math.MinInt64 && (v.Smin < 0 || uint64(v.Smin) != v.Umin), "smin", v.Smin)
	say(v.Smax != math.MaxInt64 && (v.Smax < 0 || uint64(v.Smax) != v.Umax), "smax", v.Smax)
	say(v.Umin != 0, "umin", v.Umin)
	say(v.Umax != math.MaxUint64, "umax", v.Umax)
	say(v.S32min != math.MinInt32 && int64(v.S32min) != v.Smin && v.S32min != int32(v.U32min), "smin32", v.S32min)
	say(v.S32max != math.MaxInt32 && int64(v.S32max) != v.Smax && v.S32max != int32(v.U32max), "smax32", v.S32max)
	say(v.U32min != 0 && uint64(v.U32min) != v.Umin, "umin32", v.U32min)
	say(v.U32max != math.MaxUint32 && uint64(v.U32max) != v.Umax, "umax32", v.U32max)
	say(v.Bits.Mask != math.MaxUint64, "var_off", v.Bits)
	return "(" + strings.Join(parts, ",") + ")"
}
