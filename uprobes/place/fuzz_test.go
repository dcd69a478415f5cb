package place

import (
	"testing"

	"sonde/arch/amd64"
)

// FuzzDecide: any bytes of a program are refused, or get a plan whose ways hold together: what is
// entered can be undone, and leaves no register changed.
func FuzzDecide(f *testing.F) {
	for _, s := range []string{"\x55", "\x48\x8b\x05\x00\x00\x00\x01", "\xf3\x48\xa5", "\x9d", "\x0f\x05", "\xe8\x00\x00\x00\x00", "\xc3", "\x67\x48\x8b\x05\x00\x00\x00\x00"} {
		f.Add([]byte(s), uint64(at))
	}
	f.Fuzz(func(t *testing.T, code []byte, addr uint64) {
		const slot = 0x7000_0000_0000
		p, err := Decide(code, addr)
		if err != nil {
			return
		}
		if n := p.Len(); n < 1 || n > 15 || n > len(code) || p.Next() != addr+uint64(n) {
			t.Fatalf("% x: %d bytes, next at %#x", code, n, p.Next())
		}
		if !p.Allows(Step) {
			return
		}
		step, err := p.As(Step)
		if err != nil {
			t.Fatalf("% x: %v", code, err)
		}
		begin := amd64.Regs{IP: addr, AX: 1, CX: 2, SI: 5, DI: 6, SP: 0x1000, Flags: 0x202}
		r := begin
		s := step.Enter(&r, slot)
		if step.Undo(&r, slot, s); r != begin {
			t.Errorf("% x: undone, the registers are %+v, not %+v", code, r, begin)
		}
	})
}
