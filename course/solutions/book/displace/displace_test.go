package displace

import "testing"

func TestCorrected(t *testing.T) {
	negative := uint32(0xff6832c5)
	for _, c := range []struct {
		rel             int32
		original, moved uint64
		want            int32
		ok              bool
	}{
		{0xb49845, 0xffffffff84139a80, 0xffffffff85600000, int32(negative), true},
		{5, 0x1000, 0x1000, 5, true},
		{-5, 0x1000, 0x2000, -0x1005, true},
		{0, 0x1000, 0x1000 + 1<<31, -1 << 31, true},
		{0, 0x1000, 0x1001 + 1<<31, 0, false},
		{0x7fffffff, 0x1001, 0x1000, 0, false},
	} {
		if got, ok := Corrected(c.rel, c.original, c.moved); ok != c.ok || ok && got != c.want {
			t.Errorf("%#x, %#x to %#x: %#x, %v", c.rel, c.original, c.moved, got, ok)
		}
	}
}
