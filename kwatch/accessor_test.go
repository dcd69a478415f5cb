package kwatch

import "testing"

func TestInstructionBefore(t *testing.T) {
	code := []byte{0x48, 0x89, 0xc8, 0xc6, 0x00, 0x01, 0x90, 0xc3} // MOVQ, MOVB, NOP, RET
	for off, want := range map[int]int{3: 0, 6: 3, 7: 6, 8: 7, 4: 4, 5: 5} {
		if got := before(code, off); got != want {
			t.Errorf("%d: %d, want %d", off, got, want)
		}
	}
}
