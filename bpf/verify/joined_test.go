package verify

import (
	"math/rand/v2"
	"os"
	"testing"

	"sonde/bpf"
	"sonde/internal/interp"
)

// inputs are what a program made by a joiner computes with.
type inputs struct {
	*rand.Rand
	likely []int64
	asked  int
}

// next returns alternately a number of which each bit decides about a jump, and one that comparisons ask for.
func (in *inputs) next(*interp.Machine, [5]uint64) (uint64, error) {
	in.asked++
	if in.asked%2 == 1 || in.IntN(8) == 0 {
		return in.Uint64(), nil
	}
	return uint64(in.likely[in.IntN(len(in.likely))] + in.Int64N(3) - 1), nil
}

// find returns the value of a map, or 0.
func (in *inputs) find(m *interp.Machine, a [5]uint64) (uint64, error) {
	_, err := m.Read(a[1], int(counts.KeySize))
	return valueAt * in.Uint64N(2), err
}

// callBack calls a function of the program, as bpf_loop does.
func callBack(m *interp.Machine, a [5]uint64) (uint64, error) {
	for i := range a[0] {
		if end, err := m.Call(int(a[1]), i, a[2]); err != nil || end != 0 {
			return i, err
		}
	}
	return a[0], nil
}

// runs executes an accepted program a few times.
func (in *inputs) runs(c *Checked) error {
	m, err := interp.New(c.Insns)
	if err != nil {
		return err
	}
	m.Resolve = func(first, _ bpf.Insn) (uint64, error) { return uint64(first.Imm), nil }
	m.Helpers = map[int32]interp.Helper{1: in.find, 7: in.next, 181: callBack}
	m.Regions = []interp.Region{{Name: "value", Base: valueAt, Bytes: make([]byte, counts.ValueSize), Writable: true}}
	for range 32 {
		if _, err := m.Run(contextAt); err != nil {
			return err
		}
	}
	return nil
}

// joined makes the program of a seed, and fails if it is accepted and then does something wrong. It tells
// whether it is accepted.
func joined(t *testing.T, seed uint64) bool {
	t.Helper()
	j := newJoiner(seed)
	c, ok := judge(j.program())
	if !ok {
		return false
	}
	in := inputs{Rand: j.Rand, likely: j.likely}
	if err := in.runs(c); err != nil {
		text, _ := bpf.Disassemble(c.Insns)
		t.Errorf("seed %d: accepted, but %v\n%s", seed, err, text)
	}
	return true
}

// TestJoinedAreSafe: where paths meet, none is left out that may do what the others do not. Four of these
// programs find out if what is known of a copy is not marked as used where it decides, the first is 3894.
// SONDE_LONG=1 tries a million.
func TestJoinedAreSafe(t *testing.T) {
	n := uint64(20_000)
	switch {
	case os.Getenv("SONDE_LONG") != "":
		n = 1_000_000
	case testing.Short():
		n = 5_000
	}
	accepted := uint64(0)
	for seed := range n {
		if joined(t, seed) {
			accepted++
		}
	}
	if t.Logf("%d of %d programs were accepted", accepted, n); accepted < n/5 {
		t.Errorf("%d of %d programs were accepted: expected one in 5", accepted, n)
	}
}

// FuzzJoined tries the programs of other seeds.
func FuzzJoined(f *testing.F) {
	f.Add(uint64(3894))
	f.Fuzz(func(t *testing.T, seed uint64) { joined(t, seed) })
}
