package flight

// Trap context. Writers interrupt each other at any instruction, and nothing waits: a
// record that two have written at a time does not fit its checksum.

const (
	slotText  = 128
	slotWords = slotText / 8
)

// slot holds a record or one piece of a long one. sum is over all the rest.
type slot struct {
	sum    uint64
	ticket uint64
	meta   uint64
	time   int64
	text   [slotWords]uint64
}

// packMeta packs what is said about a record. pieces is 0 in the second and later ones.
func packMeta(level uint8, cpu, n, pieces int) uint64 {
	return uint64(level) | uint64(pieces)<<8 | uint64(cpu&0xffff)<<16 | uint64(n)<<32
}

// mix takes word into a checksum. A word that differs in one bit gives another one.
func mix(sum, word uint64) uint64 {
	sum = (sum ^ word) * 0x9e37_79b9_7f4a_7c15
	return sum ^ sum>>29
}

// mark packs a small number with a checksum of its own.
func mark(seed uint64, v uint8) uint64 { return uint64(v)<<56 | mix(seed, uint64(v)+1)>>8 }

// unmark returns the number in m; not ok if it does not fit its checksum.
func unmark(seed, m uint64) (v uint8, ok bool) {
	v = uint8(m >> 56)
	return v, m == mark(seed, v)
}

// checksum is what sum is to be.
func (s *slot) checksum(seed uint64) uint64 {
	sum := mix(mix(mix(seed, s.ticket), s.meta), uint64(s.time))
	for _, w := range s.text {
		sum = mix(sum, w)
	}
	return sum
}

// Log keeps a message of the log. ticket is its place there: it takes as many as it has
// pieces of 128 bytes.
//
// Context: any.
func (r *Recorder) Log(ticket uint64, time int64, level uint8, cpu int, text []byte) {
	if r.mem != nil {
		record(r.mem[r.own].log[:], r.seed, ticket, time, level, cpu, text)
	}
}

// Hit keeps a line about a hit, which is in no log: the last some hundred are kept.
//
// Context: any.
func (r *Recorder) Hit(time int64, cpu int, text []byte) {
	if r.mem != nil {
		n := uint64(pieces(len(text)))
		record(r.mem[r.own].hits[:], r.seed, r.hits.Add(n)-n, time, 0, cpu, text)
	}
}

// pieces is how many slots n bytes of text take.
func pieces(n int) int { return max(1, (n+slotText-1)/slotText) }

// record writes a record to slots, a power of two of them.
func record(slots []slot, seed, ticket uint64, time int64, level uint8, cpu int, text []byte) {
	text = text[:min(len(text), maxText)]
	n := pieces(len(text))
	for i := range n {
		s := &slots[(ticket+uint64(i))&uint64(len(slots)-1)]
		s.sum = 0
		s.ticket, s.time, s.meta = ticket+uint64(i), time, 0
		if i == 0 {
			s.meta = packMeta(level, cpu, len(text), n)
		}
		piece := text[i*slotText:]
		for w := range s.text {
			s.text[w] = word(piece, w*8)
		}
		s.sum = s.checksum(seed)
	}
}

// word returns the 8 bytes of b at i, zeros where it ends.
func word(b []byte, i int) (w uint64) {
	for j := min(len(b)-i, 8) - 1; j >= 0; j-- {
		w = w<<8 | uint64(b[i+j])
	}
	return w
}

// Stage keeps how far the boot has come.
//
// Context: any.
func (r *Recorder) Stage(code uint8) {
	if r.mem != nil {
		r.mem[r.own].head.stage = mark(r.seed, code)
	}
}

// End keeps how it ends. The first ending counts: a crash may restart the machine.
//
// Context: any.
func (r *Recorder) End(e Ending) {
	if r.mem != nil && r.ended.CompareAndSwap(false, true) {
		r.mem[r.own].head.end = mark(r.seed, uint8(e))
	}
}
