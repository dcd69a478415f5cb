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
	groupSize = 1<<groupWidth - 1 // decisions
)

// Index codes a number below 1<<width in a column, which is below Columns: a kind of numbers. The
// contexts, those that tell least first, are hashes, Contexts-1 at most.
func (c *Coder) Index(v uint32, width, column int, contexts ...uint32) uint32 {
	c.enter(column, contexts)
	if c.guessed(&v) {
		return v
	}
	v = c.bits(v, width, nodeBits)
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
	var t turn
	for ; n < 31; n++ {
		more := uint32(0)
		if n < size {
			more = 1
		}
		if n%groupSize == 0 {
			c.turn(&t, nodeLength+uint32(n), Columns)
		}
		if c.bit(&t, more, 1+uint32(n%groupSize)) == 0 {
			break
		}
	}
	v = 1<<n | c.bits(v, n, nodeBits+uint32(n)<<20)
	c.note(v - 1)
	return v - 1
}

// bits codes the lower bits of a number.
func (c *Coder) bits(v uint32, width int, node uint32) uint32 {
	var t turn
	r := uint32(1)
	for left := width; left > 0; {
		n := min(left, groupWidth)
		left -= n
		c.turn(&t, node+r, Columns)
		at := uint32(1)
		for i := left + n - 1; i >= left; i-- {
			at = at<<1 | c.bit(&t, v>>i&1, at)
		}
		r = r<<n | at&^(1<<n)
	}
	return r &^ (1 << width)
}

// guessed codes whether *v is what came last in one of the contexts, and if so, sets it.
func (c *Coder) guessed(v *uint32) bool {
	var tried [Contexts]uint32
	var t turn
	n := uint32(0)
next:
	for k := c.n - 1; k >= 0; k-- {
		g := c.guess(c.contexts[k])
		if g.times == 0 || g.check != uint16(c.contexts[k]) {
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
		if n == 0 {
			c.turn(&t, nodeGuess, 0)
		}
		if c.bit(&t, same, 1+min(n, 2)*5+uint32(min(g.times-1, 4))) == 1 {
			*v = g.number
			c.note(*v)
			return true
		}
		tried[n%Contexts] = g.number
		n++
	}
	return false
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
