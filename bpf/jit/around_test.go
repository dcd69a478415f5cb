//go:build linux

package jit

import (
	"encoding/binary"
	"testing"

	"sonde/internal/native"
)

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

// TestInlineThatMayCall: code that stands for a call continues after it, or jumps to it; then the helper has
// its arguments, and R6 to R9 are as they were, also where the call takes more than 127 bytes.
func TestInlineThatMayCall(t *testing.T) {
	m := newMachine(t, 0)
	v := view()
	v.Helper = func(int, int32) (Helper, error) {
		code := []byte{0x4d, 0x85, 0xc0, 0x0f, 0x85, 0, 0, 0, 0, 0xb8, 77, 0, 0, 0} // test R8, R8; jne slow; mov $77, AX
		return Helper{Entry: native.Address(native.Sum), Inline: code, Slow: []int{5}}, nil
	}
	text := "r6 = 6; r7 = 7; r8 = 8; r9 = 9; *(u64 *)(r10 - 400) = 1; r1 = *(u64 *)(r1 + 0); r2 = 1; r3 = 1; r4 = 1; r5 = 1; call 1" +
		"; r6 *= 1000; r0 += r6; r7 *= 10000; r0 += r7; r0 += r8; r0 += r9; r1 = *(u64 *)(r10 - 400); r0 += r1; exit"
	const kept = 6000 + 70000 + 8 + 9 + 1
	for arg, want := range map[uint64]uint64{0: 77 + kept, 2: 2 + 3 + 5 + 7 + 11 + kept} {
		binary.LittleEndian.PutUint64(m.memory, arg)
		if got, _, err := m.compiled(program(assemble(t, text)), v); err != nil || got != want {
			t.Errorf("R1 %d: got %d (%v), want %d", arg, got, err, want)
		}
	}
}
