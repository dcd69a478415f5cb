package reach

import (
	"testing"

	"sonde/arch/amd64/insn"
)

// TestInstructionsThatMayMove: stores to the places of IP (0x88) and SP (0xa0), and what computes
// their addresses; not what reads them, and not what handlers do that count.
func TestInstructionsThatMayMove(t *testing.T) {
	for _, c := range []struct {
		what, code string
		want       bool
	}{
		{"MOVQ CX, 0x88(BX)", "\x48\x89\x8b\x88\x00\x00\x00", true}, {"MOVQ CX, 0xa0(BX)", "\x48\x89\x8b\xa0\x00\x00\x00", true},
		{"MOVQ $1, 0xa0(BX)", "\x48\xc7\x83\xa0\x00\x00\x00\x01\x00\x00\x00", true}, {"ADDQ $8, 0xa0(BX)", "\x48\x83\x83\xa0\x00\x00\x00\x08", true},
		{"INCQ 0x88(BX)", "\x48\xff\x83\x88\x00\x00\x00", true}, {"LEAQ 0xa0(BX), AX", "\x48\x8d\x83\xa0\x00\x00\x00", true},
		{"MOVUPS X15, 0x80(BX)", "\x44\x0f\x11\xbb\x80\x00\x00\x00", true}, {"REP MOVSQ", "\xf3\x48\xa5", true},
		{"MOVQ 0x88(BX), CX", "\x48\x8b\x8b\x88\x00\x00\x00", false}, {"CMPQ 0xa0(BX), $0", "\x48\x83\xbb\xa0\x00\x00\x00\x00", false},
		{"MOVQ CX, 0x60(BX)", "\x48\x89\x4b\x60", false}, {"MOVQ CX, 0x90(BX)", "\x48\x89\x8b\x90\x00\x00\x00", false},
		{"MOVQ CX, 0x88(SP)", "\x48\x89\x8c\x24\x88\x00\x00\x00", false}, {"INCQ (DX)(CX*1)", "\x48\xff\x04\x0a", false},
		{"INCQ 0x88(IP)", "\x48\xff\x05\x88\x00\x00\x00", false}, {"TESTQ CX, 0x88(BX)", "\x48\x85\x8b\x88\x00\x00\x00", false},
	} {
		in, err := insn.Decode([]byte(c.code))
		if err != nil {
			t.Errorf("%s: %v", c.what, err)
			continue
		}
		if mayMove(&in) != c.want {
			t.Errorf("%s: mayMove is not %v", c.what, c.want)
		}
	}
}
