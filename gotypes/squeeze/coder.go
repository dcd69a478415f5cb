// Package squeeze packs numbers of which much is known: an arithmetic coder that learns from what it
// has coded, in contexts that the caller names.
//
// A number is coded in a few decisions between 0 and 1. First: is it one of those that came last in the same
// contexts? If it is none, its bits follow. For each decision, each context says how likely a 1 is, from
// what came in it before; the model weighs what they say, with weights that it learns, too. What is
// likely takes far less than a bit. Flate, which knows only of repeated bytes, makes Go's types a
// quarter larger.
//
// Writing and reading are the same walk, so that one description of a format serves both: each call
// returns the number, and a Reader ignores the one it is given. Both must name the same contexts.
//
// Contexts that have not been met before cost nothing but the note that they were. All arithmetic is of integers: what one
// machine has written, every other reads.
package squeeze

// A Coder is a writer or a reader.
type Coder struct {
	model
	data      []byte // written, or still to be read
	low, high uint32 // the numbers that are left to what comes next
	reads     bool
	value     uint32 // the number that is read
	beyond    int    // bytes read behind the end
}

// NewWriter returns a Coder that packs.
func NewWriter() *Coder { return &Coder{model: newModel(), high: ^uint32(0)} }

// NewReader returns a Coder that unpacks what a writer has packed.
func NewReader(data []byte) *Coder {
	c := &Coder{model: newModel(), high: ^uint32(0), data: data, reads: true}
	for range 4 {
		c.read()
	}
	return c
}

// Reads reports whether numbers are read.
func (c *Coder) Reads() bool { return c.reads }

// Bytes ends the writing, and returns what has been packed.
func (c *Coder) Bytes() []byte {
	return append(c.data, byte(c.high>>24), byte(c.high>>16), byte(c.high>>8), byte(c.high))
}

// Ended reports whether more has been read than there is.
func (c *Coder) Ended() bool { return c.beyond > 4 }

// read moves one more byte into value; behind the end there are zeros.
func (c *Coder) read() {
	c.value <<= 8
	if len(c.data) == 0 {
		c.beyond++
		return
	}
	c.value |= uint32(c.data[0])
	c.data = c.data[1:]
}

// bit codes decision at of the group that it is the turn of, from 1 on.
func (c *Coder) bit(t *number, bit, at uint32) uint32 {
	p := c.predict(t, at)
	middle := c.low + uint32(uint64(c.high-c.low)*uint64(p)>>16)
	if c.reads {
		bit = 0
		if c.value <= middle {
			bit = 1
		}
	}
	if bit == 1 {
		c.high = middle
	} else {
		c.low = middle + 1
	}
	for (c.low^c.high)>>24 == 0 {
		c.shift()
	}
	c.learn(t, at, bit, p)
	return bit
}

// shift moves the byte that is decided out of the way.
func (c *Coder) shift() {
	if c.reads {
		c.read()
	} else {
		c.data = append(c.data, byte(c.high>>24))
	}
	c.low <<= 8
	c.high = c.high<<8 | 0xff
}
