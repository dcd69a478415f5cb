package squeeze

// A state is what a context has seen of a decision: in the upper bits how likely a 1 is, as the logarithm of the
// odds, and below how many decisions, up to mostSeen.
type state uint16

const (
	seenBits = 4
	mostSeen = 1<<seenBits - 1      // what has seen so many forgets the oldest
	zero     = 1 << (15 - seenBits) // the upper bits of even odds
	even     = state(zero << seenBits)
	unit     = 2 // of the upper bits, in 256ths
)

// states say of each state what a context says in it, and which one follows.
type states struct {
	says     [1 << 16]int // the logarithm of the odds in 256ths, less while little has been seen
	next     [2][1 << 16]state
	squashed [2*limit + 1]int // squash, from -limit on
}

func newStates() *states {
	t := new(states)
	for i := range t.squashed {
		t.squashed[i] = int(squash(int32(i - limit)))
	}
	odds := stretched(t)
	for i := range t.says {
		x, seen := int32(i>>seenBits-zero)*unit, int32(i&mostSeen)
		t.says[i] = int(x * 2560 * seen / (10*seen + 3) >> 8)
		for bit := range t.next {
			p := int32(t.squashed[max(0, min(2*limit, x+limit))])
			p += (int32(bit)<<16 - p) * 10 / (9*seen + 12)
			y := odds[max(0, min(len(odds)-1, int(p>>4)))]
			t.next[bit][i] = state(max(0, min(2*zero-1, y/unit+zero)))<<seenBits | state(min(seen+1, mostSeen))
		}
	}
	return t
}

// stretched is the inverse of squash, by the upper bits of a likelihood.
func stretched(t *states) (odds [1 << 12]int32) {
	x := 0
	for i := range odds {
		for x < 2*limit && t.squashed[x] < i<<4+8 {
			x++
		}
		odds[i] = int32(x - limit)
	}
	return odds
}
