package amd64

import "testing"

func TestEncodeDR7(t *testing.T) {
	for _, c := range []struct {
		name string
		b    [Breakpoints]Breakpoint
		want uint64
		ok   bool
	}{
		{"none", [4]Breakpoint{}, 0x400, true},
		{"write 8 in 0", [4]Breakpoint{{0x1008, BreakWrite, 8, true}}, 0x90402, true},
		{"exec in 1", [4]Breakpoint{1: {0x1001, BreakExec, 1, true}}, 0x408, true},
		{"access 4 in 3", [4]Breakpoint{3: {0x1004, BreakAccess, 4, true}}, 0xf0000480, true},
		{"io 2 in 2", [4]Breakpoint{2: {0x3f8, BreakIO, 2, true}}, 0x6000420, true},
		{"off is not looked at", [4]Breakpoint{{1, BreakExec, 9, false}}, 0x400, true},
		{"unaligned", [4]Breakpoint{{0x1004, BreakWrite, 8, true}}, 0x400, false},
		{"length 3", [4]Breakpoint{{0, BreakWrite, 3, true}}, 0x400, false},
		{"length 0", [4]Breakpoint{{0, BreakWrite, 0, true}}, 0x400, false},
		{"length 255", [4]Breakpoint{{0, BreakWrite, 255, true}}, 0x400, false},
		{"exec 2", [4]Breakpoint{{0, BreakExec, 2, true}}, 0x400, false},
		{"io 8", [4]Breakpoint{{0, BreakIO, 8, true}}, 0x400, false},
		{"kind 4", [4]Breakpoint{{0, 4, 1, true}}, 0x400, false},
	} {
		if got, ok := EncodeDR7(&c.b); got != c.want || ok != c.ok {
			t.Errorf("%s: %#x, %v; want %#x", c.name, got, ok, c.want)
		}
	}
}

func TestDR7RoundTrip(t *testing.T) {
	for _, n := range []uint8{1, 2, 4, 8} {
		for k := BreakWrite; k <= BreakAccess; k += 2 {
			in := [4]Breakpoint{{0x1000, k, n, true}, {0x2000, k, 1, true}, {0x3000, BreakExec, 1, true}, {0x4000, k, n, true}}
			dr7, ok := EncodeDR7(&in)
			if out := DecodeDR7(dr7, &[4]uint64{0x1000, 0x2000, 0x3000, 0x4000}); !ok || out != in {
				t.Errorf("%+v -> %#x -> %+v", in, dr7, out)
			}
		}
	}
	if b := DecodeDR7(DR7_L0|DR7_FIXED, new([4]uint64)); !b[0].On || b[1].On {
		t.Error("local enable")
	}
}

func TestHitDR6(t *testing.T) {
	for dr6, want := range map[uint64]int{DR6_FIXED: -1, DR6_FIXED | DR6_BS: -1, DR6_FIXED | DR6_B2: 2, DR6_B3 | DR6_B1: 1} {
		if got := HitDR6(dr6); got != want {
			t.Errorf("%#x: %d, want %d", dr6, got, want)
		}
	}
}

func TestVectors(t *testing.T) {
	for v, want := range map[uint8]string{0: "#DE divide error", 13: "#GP general protection", 14: "#PF page fault",
		15: "reserved exception", 31: "reserved exception", 32: "interrupt",
		VecTimer: "local timer", VecSelf: "call on the calling CPU", 255: "spurious interrupt"} {
		if got := VectorName(v); got != want {
			t.Errorf("%d: %q, want %q", v, got, want)
		}
	}
	codes := map[uint8]bool{8: true, 10: true, 11: true, 12: true, 13: true, 14: true, 17: true, 21: true, 29: true, 30: true}
	for v := range 256 {
		if HasErrorCode(uint8(v)) != codes[uint8(v)] {
			t.Errorf("error code of %d", v)
		}
	}
}

func TestNoAllocation(t *testing.T) {
	b := [4]Breakpoint{{0x1000, BreakWrite, 8, true}}
	if n := testing.AllocsPerRun(100, func() {
		dr7, _ := EncodeDR7(&b)
		b = DecodeDR7(dr7, &[4]uint64{0x1000})
		_ = VectorName(b[0].Len)
	}); n != 0 {
		t.Fatal(n)
	}
}
