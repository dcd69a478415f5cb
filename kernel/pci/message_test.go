package pci

import "testing"

// TestMessage: the address, the data and the mask are where the capability's form has them.
func TestMessage(t *testing.T) {
	for _, c := range []struct {
		name          string
		control       uint32
		data, masked  int // the offsets of those words
		wantedControl uint32
	}{
		{"narrow", 0x0070_0005, 8, 0, 0x0001_0005},
		{"wide", 0x0080_0005, 12, 0, 0x0081_0005},
		{"masked", 0x0180_0005, 12, 16, 0x0181_0005},
	} {
		words := map[int]uint32{0x50: c.control, 0x50 + c.data: 0xabcd_ffff}
		if c.masked != 0 {
			words[0x50+c.masked] = 0xffff_ffff
		}
		message(func(at int) uint32 { return words[at] }, func(at int, v uint32) { words[at] = v }, 0x50, 0xfee01000, 0x31)
		if words[0x54] != 0xfee01000 || words[0x50+c.data] != 0xabcd_0031 || words[0x50] != c.wantedControl || words[0x50+c.masked]&^c.wantedControl != 0 {
			t.Errorf("%s: %#x", c.name, words)
		}
	}
}
