package squeeze

// Limits of what a Coder is asked for.
const (
	Columns  = 32
	Contexts = 8 // of one number, with the column itself
)

// model foresees decisions.
type model struct {
	slots   []slot
	guesses []guess
	weights [][Contexts]int32 // by column and by how much the contexts have seen; 1<<16 is 1

	// By what a slot has seen: how much it counts, of 256, and how much it learns, of 65,536.
	counts, learns [lasting + 1]int32
	stretches      stretches

	// Of the number that is coded:
	column   int
	contexts [Contexts]uint32
	n        int

	// Of the decision:
	at     [Contexts]*slot
	says   [Contexts]int32
	weight *[Contexts]int32
	p      int32
}

// A slot is what a context has seen of a decision.
type slot struct {
	p     uint16 // how likely a 1 is; 1<<16 is certain
	seen  uint8  // decisions, up to lasting
	check uint8  // of the hash that leads here
}

const (
	slotBits    = 19
	lasting     = 250 // a slot that has seen so many forgets the oldest
	classes     = 64  // of weights: how much each of three contexts has seen, in 4 steps
	firstWeight = 1 << 16 * 3 / 10
	learnShift  = 17 // how fast weights change
)

func newModel() model {
	m := model{slots: make([]slot, 1<<slotBits), guesses: make([]guess, 1<<guessBits), weights: make([][Contexts]int32, Columns*classes)}
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
	h = (h ^ h>>15) * 0xC2B2AE35
	return h ^ h>>13
}

// enter begins a number.
func (m *model) enter(column int, contexts []uint32) {
	m.column, m.n = column, len(contexts)+1
	m.contexts[0] = mix(uint32(column), 0)
	for i, c := range contexts {
		m.contexts[i+1] = mix(mix(uint32(column), uint32(i+1)), c)
	}
}

// predict returns how likely it is that a decision is 1; 1<<16 is certain.
func (m *model) predict(node uint32) int32 {
	class := 0
	for i := range m.n {
		s := m.find(mix(m.contexts[i], node))
		m.at[i] = s
		m.says[i] = m.stretches.of(s.p) * m.counts[s.seen] >> 8
		if i > 0 && i >= m.n-3 {
			class = class<<2 | int(min(s.seen, 3))
		}
	}
	m.weight = &m.weights[m.column*classes+class]
	sum := int64(0)
	for i := range m.n {
		sum += int64(m.says[i]) * int64(m.weight[i])
	}
	m.p = squash(int32(max(-limit<<16, min(limit<<16, sum)) >> 16))
	return m.p
}

// learn tells how the decision was.
func (m *model) learn(bit uint32) {
	right := int32(-bit) >> 16 & 0xffff // 65535 or 0
	wrong := int64(right - m.p)
	for i := range m.n {
		m.weight[i] += int32(int64(m.says[i]) * wrong >> learnShift)
		s := m.at[i]
		s.p += uint16(int64(right-int32(s.p)) * int64(m.learns[s.seen]) >> 16)
		s.seen = min(s.seen+1, lasting)
	}
}

// find returns the slot of a hash: one of two, or the one of them that has seen less, emptied.
func (m *model) find(h uint32) *slot {
	i, check := h>>(32-slotBits), uint8(h)
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
