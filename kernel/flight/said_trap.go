package flight

// Trap context. What the Go runtime prints it prints byte by byte, on stacks with no room
// for more.

const cellText = 56

// cell holds some of what was said. sum is over the rest and where in all that it belongs,
// but for its lowest 16 bits: how many bytes, and how often the ring had gone round.
type cell struct {
	text [cellText / 8]uint64
	sum  uint64
}

const (
	lengthBits = 6
	lapBits    = 10
	labelMask  = 1<<(lengthBits+lapBits) - 1
)

// checksum is what sum is to be of a cell that is the number-th and holds n bytes.
//
//go:nosplit
func (c *cell) checksum(seed, number uint64, n int) uint64 {
	label := number/saidCells%(1<<lapBits)<<lengthBits | uint64(n)
	sum := (seed ^ number<<lengthBits ^ uint64(n)) * 0x9e37_79b9_7f4a_7c15
	for i := range c.text {
		sum = (sum ^ c.text[i]) * 0x9e37_79b9_7f4a_7c15
		sum ^= sum >> 29
	}
	return sum&^labelMask | label
}

// Put keeps a byte. It is nosplit for the thread shim, which calls it.
//
// Context: any.
//
//go:nosplit
func (r *Recorder) Put(b byte) {
	if r.mem == nil {
		return
	}
	at := r.said.Add(1) - 1
	number, i := at/cellText, at%cellText
	c := &r.mem[r.own].said[number%saidCells]
	if i == 0 {
		c.text = [cellText / 8]uint64{}
	}
	c.text[i/8] |= uint64(b) << (i % 8 * 8)
	c.sum = c.checksum(r.seed, number, int(i)+1)
}
