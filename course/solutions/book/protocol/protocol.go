// Package protocol checks, in a model, in which order five bytes of code may be changed while a CPU executes them.
//
// Before, there are two instructions, of two and of three bytes; afterwards, a jump. For each byte the model knows
// which values a CPU may still read there.
package protocol

import "fmt"

// The code, and what is to take its place.
var (
	code = [5]byte{0xa0, 0xa1, 0xb0, 0xb1, 0xb2}
	jump = [5]byte{0xe9, 0x11, 0x12, 0x13, 0x14}
)

const int3 = 0xcc

// A Step is one thing that the CPU which changes the code does.
type Step int

// The steps.
const (
	Int3 Step = iota // writes the breakpoint over the first byte
	Sync             // makes all CPUs forget what they have read in advance
	Wait             // waits until no CPU stands between the two instructions
	Tail             // writes the four last bytes
	Head             // writes the first byte of the jump
)

func (s Step) String() string { return [...]string{"int3", "sync", "wait", "tail", "head"}[s] }

// machine is what another CPU may see, and where it may be.
type machine struct {
	read   [5]map[byte]bool // the values that it may read
	now    [5]byte
	inside bool // it may stand at +2, interrupted between the two instructions
}

func (m *machine) write(at int, b byte) {
	m.now[at] = b
	m.read[at][b] = true
}

// do carries out a step.
func (m *machine) do(s Step) {
	switch s {
	case Int3:
		m.write(0, int3)
	case Sync:
		for i := range m.read {
			m.read[i] = map[byte]bool{m.now[i]: true}
		}
	case Wait:
		m.inside = m.read[0][code[0]] // whoever can still begin can be inside again
	case Tail:
		for i := 1; i < 5; i++ {
			m.write(i, jump[i])
		}
	case Head:
		m.write(0, jump[0])
	}
}

// only reports whether a CPU can read nothing else than want from byte from on.
func (m *machine) only(from int, want []byte) bool {
	for i, b := range want {
		if len(m.read[from+i]) != 1 || !m.read[from+i][b] {
			return false
		}
	}
	return true
}

// wrong says what a CPU may execute that nobody has written; "" if nothing.
func (m *machine) wrong() string {
	if m.read[0][code[0]] {
		if !m.only(1, code[1:2]) {
			return "a mixture at +0"
		}
		m.inside = true
	}
	if m.read[0][jump[0]] && !m.only(1, jump[1:]) {
		return "half a jump"
	}
	if m.inside && !m.only(2, code[2:]) {
		return "a mixture at +2"
	}
	return ""
}

// Check goes through the steps, and says after which one a CPU may execute what nobody has written.
func Check(steps ...Step) error {
	m := machine{now: code, inside: true}
	for i := range m.read {
		m.read[i] = map[byte]bool{code[i]: true}
	}
	for _, s := range steps {
		m.do(s)
		if why := m.wrong(); why != "" {
			return fmt.Errorf("after %v: %s", s, why)
		}
	}
	if !m.only(0, jump[:]) {
		return fmt.Errorf("at the end: the jump is not what every CPU reads")
	}
	return nil
}
