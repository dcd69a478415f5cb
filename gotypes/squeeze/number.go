package squeeze

import "math/bits"

// Where the decisions about a number begin, in the numbers that tell them apart.
const (
	nodeLength = 1 << 29
	nodeBits   = 1 << 30
)

// A guess is the number that came last in a context, with what that has seen of guesses: both are found at once.
type guess struct {
	number uint32
	check  uint16 // of the context's hash, odd; 0: there is none
	times  uint16 // in a row, but for a few exceptions
	group  group
}

const (
	guessBits = 16
	groupSize = 1<<groupWidth - 1 // decisions
)

// Index codes a number below 1<<width in a column, which is below Columns: a kind of numbers. The
// contexts, those that tell least first, are hashes, Contexts-1 at most.
func (c *Coder) Index(v uint32, width, column int, contexts ...uint32) uint32 {
	var t number
	c.enter(&t, column, contexts)
	if c.guessed(&t, &v) {
		return v
	}
	v = c.bits(&t, v, width, nodeBits)
	c.note(&t, v)
	return v
}

// Number is Index for numbers of all sizes, most of them small, below 1<<32 - 1.
func (c *Coder) Number(v uint32, column int, contexts ...uint32) uint32 {
	var t number
	c.enter(&t, column, contexts)
	if c.guessed(&t, &v) {
		return v
	}
	v++
	size, n := bits.Len32(v)-1, 0 // bits behind the first
	for ; n < 31; n++ {
		more := uint32(0)
		if n < size {
			more = 1
		}
		if n%groupSize == 0 {
			c.turn(&t, nodeLength+uint32(n))
		}
		if c.bit(&t, more, 1+uint32(n%groupSize)) == 0 {
			break
		}
	}
	v = 1<<n | c.bits(&t, v, n, nodeBits+uint32(n)<<20)
	c.note(&t, v-1)
	return v - 1
}

// bits codes the lower bits of a number.
func (c *Coder) bits(t *number, v uint32, width int, node uint32) uint32 {
	r := uint32(0)
	for left := width; left > 0; {
		n := (left-1)%groupWidth + 1
		left -= n
		c.turn(t, node+uint32(left)<<25+r)
		at := uint32(1)
		for i := left + n - 1; i >= left; i-- {
			at = at<<1 | c.bit(t, v>>i&1, at)
		}
		r = r<<n | at&^(1<<n)
	}
	return r
}

// guessed codes whether *v is what came last in one of the contexts, and if so, sets it.
func (c *Coder) guessed(t *number, v *uint32) bool {
	var tried [Contexts]uint32
	n := uint32(0)
next:
	for _, h := range t.hashes[:t.of] {
		g := c.guess(h)
		if g.check != uint16(h)|1 {
			continue
		}
		for _, before := range tried[:n] {
			if before == g.number {
				continue next
			}
		}
		same := uint32(0)
		if *v == g.number {
			same = 1
		}
		if c.bit(t, same, 1+min(n, 2)*5+uint32(min(g.times-1, 4))) == 1 {
			*v = g.number
			c.note(t, *v)
			return true
		}
		tried[n%Contexts] = g.number
		n++
	}
	return false
}

func (m *model) guess(context uint32) *guess { return &m.guesses[context>>(32-guessBits)] }

// note has the contexts know a number.
func (m *model) note(t *number, v uint32) {
	for _, h := range t.hashes[:t.of] {
		g, check := m.guess(h), uint16(h)|1
		switch {
		case g.check != check:
			*g = guess{v, check, 1, empty}
		case g.number == v:
			g.times = min(g.times+1, 200)
		case g.times <= 2:
			g.number, g.times = v, 1
		default:
			g.times /= 2
		}
	}
}
