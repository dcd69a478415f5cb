package debugreg

import "testing"

func TestEncode(t *testing.T) {
	for _, c := range []struct {
		name string
		b    Set
		want uint64
		ok   bool
	}{
		{"none", Set{}, 0x400, true},
		{"write 8 in 0", Set{{0x1008, Write, 8, true}}, 0x90402, true},
		{"exec in 1", Set{1: {0x1001, Exec, 1, true}}, 0x408, true},
		{"access 4 in 3", Set{3: {0x1004, Access, 4, true}}, 0xf0000480, true},
		{"io 2 in 2", Set{2: {0x3f8, IO, 2, true}}, 0x6000420, true},
		{"each length of a write", Set{{1, Write, 1, true}, {2, Write, 2, true}, {4, Write, 4, true}, {8, Write, 8, true}}, 0x9d5104aa, true},
		{"off is not looked at", Set{{1, Exec, 9, false}}, 0x400, true},
		{"unaligned", Set{{0x1004, Write, 8, true}}, 0x400, false},
		{"length 3", Set{{0, Write, 3, true}}, 0x400, false},
		{"length 0", Set{{0, Write, 0, true}}, 0x400, false},
		{"length 255", Set{{0, Write, 255, true}}, 0x400, false},
		{"exec 2", Set{{0, Exec, 2, true}}, 0x400, false},
		{"io 8", Set{{0, IO, 8, true}}, 0x400, false},
		{"kind 4", Set{{0, 4, 1, true}}, 0x400, false},
	} {
		if got, ok := c.b.Encode(); got != c.want || ok != c.ok {
			t.Errorf("%s: %#x, %v; want %#x", c.name, got, ok, c.want)
		}
	}
}

func TestHits(t *testing.T) {
	in := Set{1: {0x1000, Write, 8, true}, 2: {0x3000, Exec, 1, true}}
	dr7, _ := in.Encode()
	on := Enabled(dr7)
	if on != 0b0110 || Enabled(DR7_L0|DR7_FIXED) != 1 || Enabled(^uint64(0)) != 15 {
		t.Errorf("on: %04b", on)
	}
	for dr6, want := range map[uint64]uint64{
		DR6_FIXED: 0, DR6_FIXED | DR6_BS: 0, DR6_FIXED | DR6_B2: 4, DR6_B1 | DR6_B2 | DR6_BS: 6,
		DR6_B0 | DR6_B3: 0, DR6_B0 | DR6_B1: 2, // of breakpoints that are off
	} {
		if got := Hits(dr6, on); got != want {
			t.Errorf("%#x: %04b, want %04b", dr6, got, want)
		}
	}
}

func TestNoAllocation(t *testing.T) {
	b := Set{{0x1000, Write, 8, true}}
	if n := testing.AllocsPerRun(100, func() {
		dr7, _ := b.Encode()
		_ = Hits(1, Enabled(dr7))
	}); n != 0 {
		t.Fatal(n)
	}
}
