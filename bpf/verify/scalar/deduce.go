package scalar

import "math"

// deduce carries what each form knows to the others, until nothing changes. Two or three rounds
// are the rule; four are the limit, so that the time is bounded: a round that is left out costs
// precision, never soundness.
func (v Value) deduce() Value {
	for range 4 {
		old := v
		v = v.boundsFromBits().lowFromWide().signs().wideFromLow().bitsFromBounds()
		if v.Umin > v.Umax || v.Smin > v.Smax || v.U32min > v.U32max || v.S32min > v.S32max {
			v.contradictory = true
		}
		if v == old || v.contradictory {
			break
		}
	}
	return v
}

// boundsFromBits: the least number has all unknown bits 0, the greatest has them 1; seen as
// signed, the sign bit is the other way round.
func (v Value) boundsFromBits() Value {
	const sign, sign32 = 1 << 63, 1 << 31
	val, mask := v.Bits.Value, v.Bits.Mask
	v.Umin, v.Umax = max(v.Umin, val), min(v.Umax, val|mask)
	v.Smin, v.Smax = max(v.Smin, int64(val|mask&sign)), min(v.Smax, int64(val|mask&^sign))
	v.U32min, v.U32max = max(v.U32min, uint32(val)), min(v.U32max, uint32(val|mask))
	v.S32min, v.S32max = max(v.S32min, int32(uint32(val|mask&sign32))), min(v.S32max, int32(uint32(val|mask&^sign32)))
	return v
}

// signs joins unsigned and signed bounds, of 64 and of 32 bits.
func (v Value) signs() Value {
	v.Umin, v.Umax, v.Smin, v.Smax = join(v.Umin, v.Umax, v.Smin, v.Smax)
	// The low 32 bits as 64-bit numbers: the same rule holds if the signed order is kept, so
	// both are shifted up.
	umin, umax, smin, smax := join(uint64(v.U32min)<<32, uint64(v.U32max)<<32, int64(v.S32min)<<32, int64(v.S32max)<<32)
	v.U32min, v.U32max, v.S32min, v.S32max = uint32(umin>>32), uint32(umax>>32), int32(smin>>32), int32(smax>>32)
	return v
}

// join narrows unsigned bounds by signed ones and the reverse. Seen as unsigned, a signed range
// that crosses 0 is two pieces: [0, smax] and [smin, top].
func join(umin, umax uint64, smin, smax int64) (uint64, uint64, int64, int64) {
	if smin < 0 && smax >= 0 { // two pieces: can one be ruled out?
		switch {
		case umax < uint64(smin):
			smin = 0
		case umin > uint64(smax):
			smax = -1
		}
	}
	if (smin < 0) == (smax < 0) {
		umin, umax = max(umin, uint64(smin)), min(umax, uint64(smax))
	}
	if int64(umin) <= int64(umax) { // all of one sign
		smin, smax = max(smin, int64(umin)), min(smax, int64(umax))
	}
	return umin, umax, smin, smax
}

// lowFromWide narrows the bounds of the low 32 bits by the wide ones where the wide range does not
// wrap around them.
func (v Value) lowFromWide() Value {
	if v.Umin>>32 == v.Umax>>32 {
		v.U32min, v.U32max = max(v.U32min, uint32(v.Umin)), min(v.U32max, uint32(v.Umax))
	}
	if v.Smin>>32 == v.Smax>>32 {
		v.U32min, v.U32max = max(v.U32min, uint32(v.Smin)), min(v.U32max, uint32(v.Smax))
	}
	if v.fitsInt32() {
		v.S32min, v.S32max = max(v.S32min, int32(v.Smin)), min(v.S32max, int32(v.Smax))
	}
	return v
}

func (v Value) fitsInt32() bool { return v.Smin >= math.MinInt32 && v.Smax <= math.MaxInt32 }

// wideFromLow narrows the wide bounds by those of the low 32 bits.
func (v Value) wideFromLow() Value {
	v.Umin, v.Umax = raise(v.Umin, v.U32min), lower(v.Umax, v.U32max)
	v.Smin, v.Smax = int64(raise(uint64(v.Smin), v.U32min)), int64(lower(uint64(v.Smax), v.U32max))
	if v.fitsInt32() {
		v.Smin, v.Smax = max(v.Smin, int64(v.S32min)), min(v.Smax, int64(v.S32max))
	}
	return v
}

// raise returns n, or the first number after it whose low half is not below lo.
func raise(n uint64, lo uint32) uint64 {
	if uint32(n) < lo {
		return n&^math.MaxUint32 | uint64(lo)
	}
	return n
}

// lower returns n, or the last number before it whose low half is not above hi.
func lower(n uint64, hi uint32) uint64 {
	if uint32(n) > hi {
		return n&^math.MaxUint32 | uint64(hi)
	}
	return n
}

// bitsFromBounds learns the leading bits that the bounds share.
func (v Value) bitsFromBounds() Value {
	if v.Umin > v.Umax || v.U32min > v.U32max {
		return v // contradictory; deduce says so
	}
	t, ok := v.Bits.Meet(RangeBits(v.Umin, v.Umax))
	low := RangeBits(uint64(v.U32min), uint64(v.U32max))
	low.Mask |= math.MaxUint32 << 32
	t, ok2 := t.Meet(low)
	if !ok || !ok2 {
		v.contradictory = true
		return v
	}
	v.Bits = t
	return v
}
