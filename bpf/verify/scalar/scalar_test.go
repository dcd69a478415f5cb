package scalar

import (
	"math"
	"math/bits"
	"math/rand"
	"testing"
)

// concrete is the operations on numbers, written apart from the package, by RFC 9669.
func concrete(op Op, a, b uint64) uint64 {
	switch op {
	case Add:
		return a + b
	case Sub:
		return a - b
	case Mul:
		return a * b
	case And:
		return a & b
	case Or:
		return a | b
	case Xor:
		return a ^ b
	case Lsh:
		return a << (b % 64)
	case Rsh:
		return a >> (b % 64)
	case Arsh:
		return uint64(int64(a) >> (b % 64))
	case Div, SDiv:
		if b == 0 {
			return 0
		}
		if op == Div {
			return a / b
		}
		return uint64(int64(a) / int64(b))
	}
	if b == 0 {
		return a
	}
	if op == Mod {
		return a % b
	}
	return uint64(int64(a) % int64(b))
}

func concrete32(op Op, a, b uint64) uint64 {
	switch op {
	case Lsh, Rsh:
		return uint64(uint32(concrete(op, uint64(uint32(a)), b%32)))
	case Arsh:
		return uint64(uint32(int32(a) >> (b % 32)))
	case SDiv, SMod:
		return uint64(uint32(concrete(op, uint64(int32(a)), uint64(int32(b)))))
	}
	return uint64(uint32(concrete(op, uint64(uint32(a)), uint64(uint32(b)))))
}

func holds(r Rel, a, b uint64) bool {
	return [...]bool{a == b, a != b, a < b, a >= b, a > b, a <= b, int64(a) < int64(b), int64(a) >= int64(b),
		int64(a) > int64(b), int64(a) <= int64(b), a&b != 0, a&b == 0}[r]
}

func holds32(r Rel, a, b uint64) bool {
	if r >= SLt && r <= SLe {
		return holds(r, uint64(int32(a)), uint64(int32(b)))
	}
	return holds(r, uint64(uint32(a)), uint64(uint32(b)))
}

// TestBitsExhaustively takes every pair of tristate numbers of four bits and every number in them.
func TestBitsExhaustively(t *testing.T) {
	var all []Tnum
	for mask := uint64(0); mask < 16; mask++ {
		for value := uint64(0); value < 16; value++ {
			if value&mask == 0 {
				all = append(all, Tnum{value, mask})
			}
		}
	}
	for _, x := range all {
		for _, y := range all {
			results := [...]Tnum{x.add(y), x.sub(y), x.times(y), x.and(y), x.or(y), x.xor(y)}
			meet, ok := x.Meet(y)
			for a := uint64(0); a < 16; a++ {
				for b := uint64(0); b < 16; b++ {
					if !x.Contains(a) || !y.Contains(b) {
						continue
					}
					for i, op := range []Op{Add, Sub, Mul, And, Or, Xor} {
						if r := results[i]; !r.Contains(concrete(op, a, b)) || r.Value&r.Mask != 0 {
							t.Fatalf("op %d of %v and %v is %v, without %d and %d", op, x, y, r, a, b)
						}
					}
					if a == b && (!ok || !meet.Contains(a)) || !x.Join(y).Contains(a) {
						t.Fatalf("meet or join of %v and %v lost %d", x, y, a)
					}
				}
			}
		}
	}
}

// edge is a number near one at which bounds change their meaning.
func edge(r *rand.Rand) uint64 {
	base := []uint64{0, 0, 1 << 31, 1 << 32, 1 << 63, math.MaxUint64, 0xff, 1 << 40, r.Uint64()}[r.Intn(9)]
	return base + uint64(r.Intn(9)) - 4
}

// sample is a Value and numbers that are in it: joined numbers, narrowed by bounds that all of them keep.
func sample(t *testing.T, r *rand.Rand) (Value, []uint64) {
	in := []uint64{edge(r)}
	v := Const(in[0])
	for range r.Intn(4) {
		n := in[0] + uint64(r.Intn(32))
		if r.Intn(3) == 0 {
			n = edge(r)
		}
		in, v = append(in, n), v.Join(Const(n))
	}
	if r.Intn(3) == 0 { // forget bits, or bounds, as real programs have them
		w := []Value{WithBits(v.Bits), Range(v.Umin, v.Umax), SignedRange(v.Smin, v.Smax), Any().MeetLow(v)}[r.Intn(4)]
		v = w
	}
	for _, n := range in {
		if !v.Contains(n) {
			t.Fatalf("%v has lost %#x", v, n)
		}
	}
	return v, in
}

func rounds() int {
	if testing.Short() {
		return 5_000
	}
	return 40_000
}

// TestOperationsKeepEveryNumber: whatever the operands hold, the result holds what becomes of it.
func TestOperationsKeepEveryNumber(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	for range rounds() {
		x, as := sample(t, r)
		y, bs := sample(t, r)
		op := Op(r.Intn(int(Arsh) + 1))
		wide, low := Do(op, x, y), Do32(op, x, y)
		for _, a := range as {
			for _, b := range bs {
				if want := concrete(op, a, b); !wide.Contains(want) {
					t.Fatalf("op %d: %v, %v give %v, not %#x of %#x, %#x", op, x, y, wide, want, a, b)
				}
				if want := concrete32(op, a, b); !low.Contains(want) {
					t.Fatalf("op32 %d: %v, %v give %v, not %#x of %#x, %#x", op, x, y, low, want, a, b)
				}
			}
		}
	}
}

// TestRefineKeepsEveryNumber: a comparison loses no number for which it holds.
func TestRefineKeepsEveryNumber(t *testing.T) {
	r := rand.New(rand.NewSource(2))
	for range rounds() {
		x, as := sample(t, r)
		y, bs := sample(t, r)
		rel := Rel(r.Intn(int(Clear) + 1))
		x64, y64 := Refine(rel, x, y)
		x32, y32 := Refine32(rel, x, y)
		for _, a := range as {
			for _, b := range bs {
				if holds(rel, a, b) && (!x64.Contains(a) || !y64.Contains(b)) {
					t.Fatalf("rel %d: %v, %v become %v, %v, without %#x, %#x", rel, x, y, x64, y64, a, b)
				}
				if holds32(rel, a, b) && (!x32.Contains(a) || !y32.Contains(b)) {
					t.Fatalf("rel32 %d: %v, %v become %v, %v, without %#x, %#x", rel, x, y, x32, y32, a, b)
				}
				if holds(rel, a, b) == holds(rel.Not(), a, b) {
					t.Fatalf("rel %d and its opposite agree on %#x, %#x", rel, a, b)
				}
			}
		}
	}
}

// TestExtensionsKeepEveryNumber: also Meet, Join and Within.
func TestExtensionsKeepEveryNumber(t *testing.T) {
	r := rand.New(rand.NewSource(3))
	for range rounds() {
		x, as := sample(t, r)
		y, _ := sample(t, r)
		n := []uint{8, 16, 32}[r.Intn(3)]
		zero, sign, meet, join := x.ZeroExtend(n), x.SignExtend(n), x.Meet(y), x.Join(y)
		for _, a := range as {
			up := 64 - n
			if !zero.Contains(a<<up>>up) || !sign.Contains(uint64(int64(a<<up)>>up)) || !join.Contains(a) {
				t.Fatalf("%d bits of %v: %v, %v, without those of %#x", n, x, zero, sign, a)
			}
			if y.Contains(a) != meet.Contains(a) || x.Within(y) && !y.Contains(a) {
				t.Fatalf("%v and %v: meet %v, at %#x", x, y, meet, a)
			}
		}
	}
}

// TestPrecision fixes what verifiers need to know of results, beyond what is merely sound.
func TestPrecision(t *testing.T) {
	any32 := Any().ZeroExtend(32)
	if any32.Umax != math.MaxUint32 {
		t.Errorf("the low half of anything is %v", any32)
	}
	lt, _ := Refine32(Lt, any32, Const(10))
	if lt.Umax != 9 {
		t.Errorf("a 32-bit number below 10 is %v: 32-bit bounds must reach the wide ones", lt)
	}
	signed, _ := Refine32(SGt, any32, Const(math.MaxUint64))
	signed, _ = Refine32(SLt, signed, Const(64))
	if signed.Umax != 63 {
		t.Errorf("a 32-bit number above -1 and below 64 is %v", signed)
	}
	pair := Do(Arsh, Do(Lsh, lt, Const(32)), Const(32))
	if pair.Umax != 9 || pair.Smin != 0 {
		t.Errorf("shifted up and down it is %v", pair)
	}
	if v := Do(And, Any(), Const(63)); v.Umax != 63 || v.Smin != 0 {
		t.Errorf("any & 63 is %v", v)
	}
	if v := Do(Mul, Range(0, 7), Const(8)); v.Umax != 56 || v.Bits.Mask != 0x38 {
		t.Errorf("[0, 7] * 8 is %v", v)
	}
	if v, _ := Refine(Ne, Range(0, 5), Const(0)); v.Umin != 1 {
		t.Errorf("[0, 5] without 0 is %v", v)
	}
	if v, _ := Refine(Lt, Const(5), Range(0, 5)); !v.Empty() {
		t.Errorf("5 below [0, 5] is %v", v)
	}
	if v := Neg(Range(1, 4)); v.Smin != -4 || v.Smax != -1 {
		t.Errorf("-[1, 4] is %v", v)
	}
	if bits.Len64(RangeBits(0, 8).Mask) != 4 {
		t.Errorf("bits of [0, 8]: %v", RangeBits(0, 8))
	}
}

func TestString(t *testing.T) {
	empty, _ := Refine(Lt, Const(5), Const(5))
	for _, c := range []struct {
		v    Value
		want string
	}{
		{Const(7), "7"},
		{Const(math.MaxUint64), "-1"},
		{Const(1 << 40), "0x10000000000"},
		{Range(0, 10), "(umax=10,var_off=(0x0; 0xf))"},
		{SignedRange(-3, 5), "(smin=-3,smax=5)"},
		{Any(), "()"},
		{empty, "(none)"},
	} {
		if got := c.v.String(); got != c.want {
			t.Errorf("got %s, want %s", got, c.want)
		}
	}
}

// TestEmpty: a value without numbers lies within all others, holds none, and adds none.
func TestEmpty(t *testing.T) {
	five := Const(5)
	empty, _ := Refine(Ne, five, five)
	if !empty.Empty() || empty.IsConst() || empty.Contains(5) {
		t.Fatalf("5 that is not 5 is %v", empty)
	}
	if !empty.Within(five) || five.Within(empty) {
		t.Errorf("empty within 5: %v, 5 within empty: %v", empty.Within(five), five.Within(empty))
	}
	if a, b := empty.Join(five), five.Join(empty); a != five || b != five {
		t.Errorf("5 joined with nothing is %v and %v", a, b)
	}
	for op := Add; op <= Arsh; op++ {
		if r, low := Do(op, empty, five), Do32(op, five, empty); !r.Empty() || !low.Empty() {
			t.Errorf("operation %d makes numbers of none: %v, %v", op, r, low)
		}
	}
}

// Contains tells whether n is one of the numbers.
func (v Value) Contains(n uint64) bool {
	return !v.contradictory && v.Bits.Contains(n) && v.Umin <= n && n <= v.Umax &&
		v.Smin <= int64(n) && int64(n) <= v.Smax && v.U32min <= uint32(n) && uint32(n) <= v.U32max &&
		v.S32min <= int32(n) && int32(n) <= v.S32max
}

// Join is a set that has the numbers of both v and w.
func (v Value) Join(w Value) Value {
	switch {
	case v.contradictory:
		return w
	case w.contradictory:
		return v
	}
	return Value{Bits: v.Bits.Join(w.Bits), Umin: min(v.Umin, w.Umin), Umax: max(v.Umax, w.Umax), Smin: min(v.Smin, w.Smin),
		Smax: max(v.Smax, w.Smax), U32min: min(v.U32min, w.U32min), U32max: max(v.U32max, w.U32max),
		S32min: min(v.S32min, w.S32min), S32max: max(v.S32max, w.S32max)}.deduce()
}

// Join is what t and u have in common.
func (t Tnum) Join(u Tnum) Tnum {
	mask := t.Mask | u.Mask | (t.Value ^ u.Value)
	return Tnum{Value: t.Value &^ mask, Mask: mask}
}
