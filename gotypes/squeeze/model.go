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
	at      uint32 // its slot
	says    int32
}

// A slot is what a context has seen of a decision, in one word, which takes a third less time than fields: in
// 16 bits how likely a 1 is, 1<<16 being certain; in 8 bits the decisions, up to lasting; in 8 bits a check, of
// the hash that leads here.
type slot uint32

func (s slot) p() uint32    { return uint32(s >> 16) }
func (s slot) seen() uint32 { return uint32(s >> 8 & 0xff) }

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
	class, shift := uint32(0), 0
	heard := m.heard[:m.voices]
	for k := range heard {
		v := &heard[k]
		at, s := m.find(mix(v.context, node))
		v.at = at
		v.says = m.stretches.of(s.p()) * m.counts[s.seen()] >> 8
		class |= min(s.seen(), 3) << shift
		shift += 2
	}
	m.weight = &m.weights[m.column*classes+int(class%classes)]
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
		at := v.at % (1 << slotBits)
		s := m.slots[at]
		p := int32(s.p())
		p += int32(int64(right-p) * int64(m.learns[s.seen()]) >> 16)
		m.slots[at] = slot(uint32(p)<<16 | min(s.seen()+1, lasting)<<8 | uint32(s&0xff))
	}
}

// find returns the slot of a hash, and where it is: one of two, or the one of them that has seen less, emptied.
func (m *model) find(h uint32) (uint32, slot) {
	i, check := h>>(32-slotBits), slot(h>>6&0xff)
	a, b := m.slots[i], m.slots[i^1]
	switch {
	case a&0xff == check && a.seen() > 0:
		return i, a
	case b&0xff == check && b.seen() > 0:
		return i ^ 1, b
	case b.seen() < a.seen():
		i ^= 1
	}
	a = 1<<31 | check
	m.slots[i] = a
	return i, a
}
