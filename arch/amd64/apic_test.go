package amd64

import "testing"

const bsp, where = 1 << 8, 0xfee00000

// TestEnableAPIC: the processor allows each step, and the last one leads to the wanted mode.
func TestEnableAPIC(t *testing.T) {
	allowed := map[[2]uint64]bool{ // from mode, to mode
		{0, APIC_EN}: true, {APIC_EN, APIC_EN | APIC_EXTD}: true, {APIC_EN, 0}: true, {APIC_EN | APIC_EXTD, 0}: true,
	}
	for _, mode := range []uint64{0, APIC_EN, APIC_EN | APIC_EXTD} {
		for _, x2 := range []bool{false, true} {
			at := mode
			for _, w := range EnableAPIC(where|bsp|mode, x2) {
				if w&^(APIC_EN|APIC_EXTD) != where|bsp {
					t.Errorf("mode %#x, %v: writes %#x", mode, x2, w)
				}
				to := w & (APIC_EN | APIC_EXTD)
				if to != at && !allowed[[2]uint64{at, to}] {
					t.Errorf("mode %#x, %v: from %#x to %#x", mode, x2, at, to)
				}
				at = to
			}
			if at&APIC_EN == 0 || X2APIC(at) != x2 {
				t.Errorf("mode %#x, %v: ends in %#x", mode, x2, at)
			}
		}
	}
	if X2APIC(where|bsp) || X2APIC(where|APIC_EXTD) || !X2APIC(where|APIC_EN|APIC_EXTD) {
		t.Error("which mode it is in")
	}
}

func TestX2Registers(t *testing.T) {
	for reg, want := range map[uint32]uint32{0x20: 0x802, 0x80: 0x808, 0xb0: 0x80b, 0xf0: 0x80f, 0x300: 0x830, 0x320: 0x832, 0x390: 0x839, 0x3e0: 0x83e} {
		if got := X2Register(reg); got != want {
			t.Errorf("%#x is MSR %#x, want %#x", reg, got, want)
		}
	}
	if got := X2Command(0x12345, 0xc4500); got != 0x0001_2345_000c_4500 {
		t.Errorf("command %#x", got)
	}
}
