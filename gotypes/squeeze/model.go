package squeeze

// Limits of what a Coder is asked for.
const (
	Columns  = 32
	Contexts = 8 // of one number, with the column itself
)

// model foresees decisions.
type model struct {
	slots   *[1 << slotBits]slot
	guesses *[1 << guessBits]guess
	weights [][Contexts]int32 // by column and by how much the contexts have seen; 1<<16 is 1

	// By what a slot has seen: how much it counts, of 256, and how much it learns, of 65,536.
	counts, learns [256]int32
	stretches      stretches

	// Of the number that is coded:
	column   int
	contexts [Contexts]uint32
	n        int
	heard    [mostHeard]voice
	voices   int

	// Of the decision:
	weight *[Contexts]int32
	p      int32
}

// A voice is a context that is heard about a decision.
type voice struct {
	context uint32
	index   uint32
	at      *slot
	says    int32
}

// A slot is what a context has seen of a decision.
type slot struct {
	p     uint16 // how likely a 1 is; 1<<16 is certain
	seen  uint8  // decisions, up to lasting
	check uint8  // of the hash that leads here
}

const (
	slotBits    = 18
	mostHeard   = 4   // contexts that are heard about a number: those that tell most
	lasting     = 250 // a slot that has seen so many forgets the oldest
	classes     = 64  // of weights: how much each of three contexts has seen, in 4 steps
	firstWeight = 1 << 16 * 3 / 10
	learnShift  = 17 // how fast weights change
)

func newModel() model {
	m := model{slots: new([1 << slotBits]slot), guesses: new([1 << guessBits]guess), weights: make([][Contexts]int32, Columns*classes)}
	for i := range m.weights {
		for j := range m.weights[i] {
			m.weights[i][j] = firstWeight
		}
	}
	for n := range int32(lasting + 1) {
		m.counts[n] = 2560 * n / (10*n + 3)
		m.learns[n] = 655360 / (10*n + 13)
	}
	m.stretches.fill()
	return m
}

// Hash makes a context of several numbers.
func Hash(values ...uint32) uint32 {
	h := uint32(1)
	for _, v := range values {
		h = mix(h, v)
	}
	return h
}

func mix(a, b uint32) uint32 {
	h := (a ^ b*0x9E3779B1) * 0x85EBCA6B
	return (h ^ h>>15) * 0xC2B2AE35
}

// enter begins a number. A context that has not been met before has nothing to say, and is only noted:
// that saves most of the time.
func (m *model) enter(column int, contexts []uint32) {
	m.column, m.n, m.voices = column, min(len(contexts)+1, Contexts), 0
	m.contexts[0] = mix(uint32(column), 0)
	for i, c := range contexts[:m.n-1] {
		m.contexts[i+1] = mix(mix(uint32(column), uint32(i+1)), c)
	}
	for i := m.n - 1; i >= 0 && m.voices < mostHeard; i-- {
		c := m.contexts[i]
		if g := m.guess(c); g.times > 0 && g.check == uint16(c) {
			m.heard[m.voices].context, m.heard[m.voices].index = c, uint32(i)
			m.voices++
		}
	}
}

// predict returns how likely it is that a decision is 1; 1<<16 is certain.
func (m *model) predict(node uint32) int32 {
	class := 0
	heard := m.heard[:m.voices]
	for k := range heard {
		v := &heard[k]
		v.at = m.find(mix(v.context, node))
		v.says = m.stretches.of(v.at.p) * m.counts[v.at.seen] >> 8
		if k < 3 {
			class |= int(min(v.at.seen, 3)) << (2 * k)
		}
	}
	m.weight = &m.weights[m.column*classes+class]
	sum := int64(0)
	for k := range heard {
		v := &heard[k]
		sum += int64(v.says) * int64(m.weight[v.index%Contexts])
	}
	m.p = squash(int32(max(-limit<<16, min(limit<<16, sum)) >> 16))
	return m.p
}

// learn tells how the decision was.
func (m *model) learn(bit uint32) {
	right := int32(-bit) >> 16 & 0xffff // 65535 or 0
	wrong := int64(right - m.p)
	heard := m.heard[:m.voices]
	for k := range heard {
		v := &heard[k]
		m.weight[v.index%Contexts] += int32(int64(v.says) * wrong >> learnShift)
		s := v.at
		s.p += uint16(int64(right-int32(s.p)) * int64(m.learns[s.seen]) >> 16)
		s.seen = min(s.seen+1, lasting)
	}
}

// find returns the slot of a hash: one of two, or the one of them that has seen less, emptied.
func (m *model) find(h uint32) *slot {
	i, check := h>>(32-slotBits), uint8(h>>6)
	a, b := &m.slots[i], &m.slots[i^1]
	switch {
	case a.check == check && a.seen > 0:
		return a
	case b.check == check && b.seen > 0:
		return b
	case b.seen < a.seen:
		a = b
	}
	*a = slot{p: 1 << 15, check: check}
	return a
}
