package jit

import "testing"

// TestEnterAndLeave: what the caller puts around the program is executed once, whichever exit is taken,
// and not around its other functions.
func TestEnterAndLeave(t *testing.T) {
	m := newMachine(t, 0)
	v := view()
	v.Enter = []byte{0x48, 0x8D, 0x5B, 0x08} // lea 8(BX), BX: the context
	v.Leave = []byte{0x48, 0x83, 0xC0, 0x64} // add $100, AX
	text := "r6 = *(u64 *)(r1 + 0); r1 = r6; call f; if r6 == 1 goto one; r0 += 1; exit; one: r0 += 2; exit; f: r0 = r1; exit"
	for value, want := range map[byte]uint64{1: 103, 7: 108} {
		m.memory[8] = value
		if got, _, err := m.compiled(program(assemble(t, text)), v); err != nil || got != want {
			t.Errorf("%d: got %d (%v), want %d", value, got, err, want)
		}
	}
}
