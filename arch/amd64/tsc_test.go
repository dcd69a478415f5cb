package amd64

import "testing"

// leaves is a processor that answers CPUID with these registers.
type leaves map[uint32][4]uint32

func (l leaves) cpuid(leaf, _ uint32) (a, b, c, d uint32) {
	r := l[leaf]
	return r[0], r[1], r[2], r[3]
}

func TestTSCFrequency(t *testing.T) {
	for _, c := range []struct {
		name string
		l    leaves
		want uint64
	}{
		{"says nothing", leaves{0: {0xd}, 0x15: {2, 200, 24e6}}, 0},
		{"Skylake: no crystal", leaves{0: {0x16}, 0x15: {2, 216}, 0x16: {2600, 3500, 100}}, 2600e6},
		{"no crystal and no base", leaves{0: {0x15}, 0x15: {2, 216}}, 0},
		{"base 0", leaves{0: {0x16}, 0x15: {2, 216}}, 0},
		{"Alder Lake", leaves{0: {0x20}, 0x15: {2, 130, 38_400_000}}, 2496e6},
		{"ratio 0", leaves{0: {0x16}, 0x15: {0, 216, 24e6}, 0x16: {2600}}, 0},
		{"beyond 32 bits", leaves{0: {0x15}, 0x15: {1, 1000, 25e6}}, 25e9},
	} {
		if got := TSCFrequency(c.l.cpuid); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}

func TestHasLAHF(t *testing.T) {
	for _, c := range []struct {
		l    leaves
		want bool
	}{
		{leaves{0x8000_0000: {0x8000_0008}, 0x8000_0001: {0, 0, 1}}, true},
		{leaves{0x8000_0000: {0x8000_0008}, 0x8000_0001: {0, 0, ^uint32(1)}}, false},
		{leaves{0x8000_0000: {0x8000_0000}, 0x8000_0001: {0, 0, 1}}, false},
	} {
		if got := HasLAHF(c.l.cpuid); got != c.want {
			t.Errorf("%v: %v", c.l, got)
		}
	}
}
