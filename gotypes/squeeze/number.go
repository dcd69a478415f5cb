package squeeze

import "math/bits"

// Where the decisions about a number begin, in the numbers that tell them apart.
const (
	nodeGuess  = 1 << 28
	nodeLength = 1 << 29
	nodeBits   = 1 << 30
)

// A guess is the number that came last in a context.
type guess struct {
	number uint32
	check  uint16 // of the context's hash
	times  uint16 // in a row, but for a few exceptions; 0: there is none
}

const (
	guessBits = 16
	manyTimes = 7 // from here on, more does not matter
)

// Index codes a number below 1<<width in a column, which is below Columns: a kind of numbers. The
// contexts, those that tell least first, are hashes, Contexts-1 at most.
func (c *Coder) Index(v uint32, width, column int, contexts ...uint32) uint32 {
	c.enter(column, contexts)
	if c.guessed(&v) {
		return v
	}
	r := uint32(1)
	for i := width - 1; i >= 0; i-- {
		r = r<<1 | c.bit(v>>i&1, nodeBits+r)
	}
	v = r - 1<<width
	c.note(v)
	return v
}

// Number is Index for numbers of all sizes, most of them small, below 1<<32 - 1.
func (c *Coder) Number(v uint32, column int, contexts ...uint32) uint32 {
	c.enter(column, contexts)
	if c.guessed(&v) {
		return v
	}
	v++
	size, n := bits.Len32(v)-1, 0 // bits behind the first
	for ; n < 31; n++ {
		more := uint32(0)
		if n < size {
			more = 1
		}
		if c.bit(more, nodeLength+uint32(n)) == 0 {
			break
		}
	}
	r := uint32(1)
	for i := n - 1; i >= 0; i-- {
		// Of long numbers, the lower bits are noise: they do not depend on those before.
		r = r<<1 | c.bit(v>>i&1, nodeBits+uint32(n)<<20+min(r, 1<<12)<<5+uint32(i))
	}
	c.note(r - 1)
	return r - 1
}

// guessed codes whether *v is what came last in the context that tells most, and if so, sets it.
func (c *Coder) guessed(v *uint32) bool {
	if c.voices == 0 {
		return false
	}
	g, same := c.guess(c.heard[0].context), uint32(0)
	if *v == g.number {
		same = 1
	}
	if c.bit(same, nodeGuess+c.heard[0].index<<8+uint32(min(g.times, manyTimes))) == 0 {
		return false
	}
	*v = g.number
	c.note(*v)
	return true
}

func (m *model) guess(context uint32) *guess { return &m.guesses[context>>(32-guessBits)] }

// note has the contexts know a number.
func (c *Coder) note(v uint32) {
	for _, context := range c.contexts[:c.n] {
		g, check := c.guess(context), uint16(context)
		switch {
		case g.times == 0 || g.check != check || g.number != v && g.times <= 2:
			*g = guess{v, check, 1}
		case g.number != v:
			g.times /= 2
		case g.times < 200:
			g.times++
		}
	}
}
