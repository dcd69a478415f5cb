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
}

// A group is what a context has seen of some decisions that are made one after the other. What is at 0 tells which context
// and which decisions.
type group [1 << groupWidth]state

// empty has seen nothing.
var empty = group{0, even, even, even, even, even, even, even, even, even, even, even, even, even, even, even}

// weights are what a context counts, by how much it has seen; 1<<16 is 1. There are some for each column, for
// guesses and other decisions, by how many contexts are heard, and which of them it is.
type weights [mostSeen + 1]int

// A voice is a context that is heard about the decisions of a group.
type voice struct {
	group   *group
	weights *weights
	state   state // of the decision
	says    int
}

// A number is what is heard about a number, and who is to know it then.
type number struct {
	voices [mostHeard]voice
	met    [mostHeard]int // which contexts the voices are
	known  int            // how many have been met before, up to mostHeard
	n      int            // how many are heard
	column int
	hashes [Contexts]uint32 // of the contexts, those first that tell most
	of     int              // contexts
}

const (
	groupBits   = 16
	groupWidth  = 4 // bits of a number that are coded in one group
	mostHeard   = 4 // contexts that are heard about a number: those that tell most
	guessHeard  = 2 // of them about guesses: four save 1,000 bytes of the kernel's types, and take more time
	firstWeight = 20_000
	learnShift  = 15 // how fast weights change
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
func (m *model) enter(t *number, column int, contexts []uint32) {
	t.column, t.of = column, min(len(contexts)+1, Contexts)
	n, guesses := 0, m.guesses
	for i := range t.hashes[:t.of] {
		h := uint32(0)
		if k := len(contexts) - 1 - i; k >= 0 {
			h = contexts[k]
		}
		h = (h + uint32(column*Contexts+i)*0x9E3779B1) * 0x85EBCA6B
		t.hashes[i] = h
		if g := &guesses[h>>(32-guessBits)]; g.check == uint16(h)|1 && n < mostHeard {
			t.met[n], t.voices[n].group = i, &g.group
			n++
		}
	}
	t.known, t.n = n, min(n, guessHeard)
	all := &m.weights[column%Columns][t.n]
	for k := range t.voices[:t.n] {
		t.voices[k].weights = &all[t.met[k]%Contexts]
	}
}

// turn hears the contexts about the decisions of a group.
func (m *model) turn(t *number, node uint32) {
	t.n = t.known
	all := &m.weights[(Columns+t.column)%(2*Columns)][t.n]
	node *= 0x9E3779B1
	for k := range t.voices[:t.n] {
		i := t.met[k] % Contexts
		t.voices[k].group, t.voices[k].weights = m.find((t.hashes[i]^node)*0x85EBCA6B), &all[i]
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
	*a = empty
	a[0] = check
	return a
}

// predict returns how likely it is that decision at is 1; 1<<16 is certain.
func (m *model) predict(t *number, at uint32) int {
	sum, says := 0, &m.states.says
	for k := range t.voices[:t.n] {
		v := &t.voices[k]
		v.state = v.group[at%(1<<groupWidth)]
		v.says = says[v.state]
		sum += v.says * v.weights[v.state&mostSeen]
	}
	return m.states.squashed[min(max(sum>>16+limit, 0), 2*limit)]
}

// learn tells how decision at was, of which was said that it is 1 with likelihood p.
func (m *model) learn(t *number, at, bit uint32, p int) {
	wrong, next := int(bit<<16-bit)-p, &m.states.next[bit&1]
	for k := range t.voices[:t.n] {
		v := &t.voices[k]
		v.weights[v.state&mostSeen] += v.says * wrong >> learnShift
		v.group[at%(1<<groupWidth)] = next[v.state]
	}
}
