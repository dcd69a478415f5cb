package scalar

import (
	"fmt"
	"math/bits"
)

// Tnum is what is known of each bit of a number: a bit that is set in Mask is unknown, any other
// bit is as in Value. Value and Mask have no bit in common.
//
// Source: Vishwanathan et al., "Sound, Precise, and Fast Abstract Interpretation with Tristate
// Numbers", CGO 2022.
type Tnum struct{ Value, Mask uint64 }

// AnyBits knows nothing.
var AnyBits = Tnum{Mask: ^uint64(0)}

// ConstBits knows all bits.
func ConstBits(v uint64) Tnum { return Tnum{Value: v} }

// RangeBits knows the leading bits that all numbers of [lo, hi] share.
func RangeBits(lo, hi uint64) Tnum {
	mask := uint64(1)<<bits.Len64(lo^hi) - 1
	return Tnum{Value: lo &^ mask, Mask: mask}
}

// Contains tells whether v has the bits that are known.
func (t Tnum) Contains(v uint64) bool { return (v^t.Value)&^t.Mask == 0 }

// Const tells whether all bits are known.
func (t Tnum) Const() bool { return t.Mask == 0 }

// Max is the largest number, seen as unsigned.
func (t Tnum) Max() uint64 { return t.Value | t.Mask }

// Within tells whether every number of t is one of u.
func (t Tnum) Within(u Tnum) bool { return t.Mask&^u.Mask == 0 && u.Contains(t.Value) }

// Meet is what is known if both t and u hold; ok is false if they contradict each other.
func (t Tnum) Meet(u Tnum) (_ Tnum, ok bool) {
	mask := t.Mask & u.Mask
	return Tnum{Value: (t.Value | u.Value) &^ mask, Mask: mask}, (t.Value^u.Value)&^(t.Mask|u.Mask) == 0
}

// Low keeps the low n bits; the others are 0.
func (t Tnum) Low(n uint) Tnum {
	keep := uint64(1)<<n - 1 // n = 64 keeps all
	return Tnum{Value: t.Value & keep, Mask: t.Mask & keep}
}

// signExtend copies bit n-1 into all bits above it.
func (t Tnum) signExtend(n uint) Tnum {
	up := 64 - n
	return t.lsh(up).arsh(up)
}

func (t Tnum) lsh(n uint) Tnum { return Tnum{Value: t.Value << n, Mask: t.Mask << n} }
func (t Tnum) rsh(n uint) Tnum { return Tnum{Value: t.Value >> n, Mask: t.Mask >> n} }

// arsh shifts the sign in; an unknown sign stays unknown in every bit that it fills.
func (t Tnum) arsh(n uint) Tnum {
	return Tnum{Value: uint64(int64(t.Value) >> n), Mask: uint64(int64(t.Mask) >> n)}
}

// add: a bit of the sum is known where the carries into it agree for the least and the greatest
// sum and both operands know the bit.
func (t Tnum) add(u Tnum) Tnum {
	least := t.Value + u.Value
	greatest := least + t.Mask + u.Mask
	mask := least ^ greatest | t.Mask | u.Mask
	return Tnum{Value: least &^ mask, Mask: mask}
}

func (t Tnum) sub(u Tnum) Tnum {
	diff := t.Value - u.Value
	mask := (diff + t.Mask) ^ (diff - u.Mask) | t.Mask | u.Mask
	return Tnum{Value: diff &^ mask, Mask: mask}
}

func (t Tnum) and(u Tnum) Tnum {
	value := t.Value & u.Value
	return Tnum{Value: value, Mask: t.Max() & u.Max() &^ value}
}

func (t Tnum) or(u Tnum) Tnum {
	value := t.Value | u.Value
	return Tnum{Value: value, Mask: (t.Mask | u.Mask) &^ value}
}

func (t Tnum) xor(u Tnum) Tnum {
	mask := t.Mask | u.Mask
	return Tnum{Value: (t.Value ^ u.Value) &^ mask, Mask: mask}
}

// mul adds the products by each bit of t: a known 1 adds what may vary in u, an unknown bit adds
// all of u or nothing. The product of the known parts is exact.
func (t Tnum) mul(u Tnum) Tnum {
	sum := Tnum{}
	for ; t.Max() != 0; t, u = t.rsh(1), u.lsh(1) {
		switch {
		case t.Value&1 != 0:
			sum = sum.add(Tnum{Mask: u.Mask})
		case t.Mask&1 != 0:
			sum = sum.add(Tnum{Mask: u.Max()})
		}
	}
	return sum
}

// times is the product of two numbers.
func (t Tnum) times(u Tnum) Tnum { return ConstBits(t.Value * u.Value).add(t.mul(u)) }

// String is "0x5", or "(0x5; 0xf0)": value and mask, as Linux's log has them.
func (t Tnum) String() string {
	if t.Const() {
		return fmt.Sprintf("%#x", t.Value)
	}
	return fmt.Sprintf("(%#x; %#x)", t.Value, t.Mask)
}
