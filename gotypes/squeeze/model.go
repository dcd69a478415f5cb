package squeeze

// Limits of what a Coder is asked for.
const (
	Columns  = 32
	Contexts = 8 // of one number, with the column itself
)

// model foresees decisions.
type model struct {
	groups  *[1 << groupBits]group
	guesses *[1 << guessBits]guess
	weights *[2 * Columns][mostHeard + 1][Contexts]weights
	states  *states

	// Of the number that is coded:
	column   int
	contexts [Contexts]uint32
	n        int
	heard    [mostHeard]int // contexts that have been met before, those first that tell most
	voices   int
}

// A group is what a context has seen of some decisions that are made one after the other: in front of their states
// is what tells which context and which decisions.
type group [1 << groupWidth]state

// weights are what a context counts, by how much it has seen; 1<<16 is 1. There are some for each column, for
// guesses and other decisions, by how many contexts are heard, and which of them it is.
type weights [mostSeen + 1]int32

// A turn is what is heard of the decisions of a group.
type turn struct {
	groups  [mostHeard]*group
	weights [mostHeard]*weights
	n       int
}

const (
	groupBits   = 16
	groupWidth  = 4 // bits of a number that are coded in one group
	mostHeard   = 4 // contexts that are heard about a number: those that tell most
	firstWeight = 20_000
	learnShift  = 16 // how fast weights change
)

func newModel() model {
	m := model{groups: new([1 << groupBits]group), guesses: new([1 << guessBits]guess), weights: new([2 * Columns][mostHeard + 1][Contexts]weights), states: newStates()}
	for i := range m.weights {
		for j := range m.weights[i] {
			for k := range m.weights[i][j] {
				for seen := range m.weights[i][j][k] {
					m.weights[i][j][k][seen] = firstWeight
				}
			}
		}
	}
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
	for i := m.n - 1; i >= 0; i-- {
		c := uint32(0)
		if i > 0 {
			c = contexts[i-1]
		}
		c = mix(uint32(column*Contexts+i), c)
		m.contexts[i] = c
		if g := m.guess(c); g.times > 0 && g.check == uint16(c) && m.voices < mostHeard {
			m.heard[m.voices] = i
			m.voices++
		}
	}
}

// turn hears the contexts about the decisions of a group.
func (m *model) turn(t *turn, node uint32, kind int) {
	all := &m.weights[(m.column+kind)%(2*Columns)][m.voices]
	t.n = m.voices
	for k, i := range m.heard[:m.voices] {
		t.groups[k], t.weights[k] = m.find(mix(m.contexts[i], node)), &all[i]
	}
}

// find returns the group of a hash: one of two, or the one of them that has seen less, emptied.
func (m *model) find(h uint32) *group {
	i, check := h>>(32-groupBits), state(h)|1
	a, b := &m.groups[i], &m.groups[i^1]
	switch {
	case a[0] == check:
		return a
	case b[0] == check:
		return b
	case b[1]&mostSeen < a[1]&mostSeen:
		a = b
	}
	*a = group{check, even, even, even, even, even, even, even, even, even, even, even, even, even, even, even}
	return a
}

// predict returns how likely it is that decision at is 1; 1<<16 is certain.
func (m *model) predict(t *turn, at uint32) int32 {
	sum, says := 0, &m.states.says
	for k := range t.groups[:t.n] {
		s := t.groups[k][at%(1<<groupWidth)]
		sum += int(says[s]) * int(t.weights[k][s&mostSeen])
	}
	return m.states.squashed[min(max(sum>>16+limit, 0), 2*limit)]
}

// learn tells how decision at was, of which was said that it is 1 with likelihood p.
func (m *model) learn(t *turn, at, bit uint32, p int32) {
	wrong := int(int32(-bit)>>16&0xffff - p)
	says, next := &m.states.says, &m.states.next[bit&1]
	for k := range t.groups[:t.n] {
		g := t.groups[k]
		s := g[at%(1<<groupWidth)]
		t.weights[k][s&mostSeen] += int32(int(says[s]) * wrong >> learnShift)
		g[at%(1<<groupWidth)] = next[s]
	}
}
