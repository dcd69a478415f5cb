package goabi

import (
	"testing"

	"sonde/arch/amd64"
)

func TestWords(t *testing.T) {
	r := &amd64.Regs{AX: 1, BX: 2, CX: 3, DX: 4, DI: 5, SI: 6, R8: 8, R9: 9, R10: 10, R11: 11, SP: 12, BP: 13}
	for _, c := range []struct {
		name string
		w    Words
		want []uint64
	}{
		{"Go", Go, []uint64{1, 2, 3, 5, 6, 8, 9, 10, 11}},
		{"System V", SystemV, []uint64{5, 6, 4, 3, 8, 9}},
		{"system calls", SystemCall, []uint64{5, 6, 4, 10, 8, 9}},
	} {
		if len(c.w) != len(c.want) {
			t.Errorf("%s: %d registers, not %d", c.name, len(c.w), len(c.want))
		}
		for i, want := range c.want {
			if got := c.w.Get(r, i); got != want {
				t.Errorf("%s: word %d is %d, not %d", c.name, i, got, want)
			}
		}
	}
	if len(Go) != intRegs {
		t.Errorf("%d registers, but frames are laid out for %d", len(Go), intRegs)
	}
}
