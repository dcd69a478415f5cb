package insn

import "testing"

// addressing returns an instruction of each encoding with every way to name
// memory: each ModRM, each SIB, each register extension, 32-bit addresses, the
// segments.
func addressing() (cells []cell) {
	segments := [][]byte{{}, {0x64}, {0x65}, {0x2E}, {0x3E, 0x65}}
	for _, size := range [][]byte{{}, {0x67}} {
		for _, seg := range segments {
			before := append(append([]byte{}, seg...), size...)
			for _, rex := range [][]byte{{}, {0x41}, {0x42}, {0x44}, {0x47}} {
				cells = addOperands(cells, append(append(append([]byte{}, before...), rex...), 0x8B))
			}
			cells = append(cells, newCell(len(before)+1, append(append([]byte{}, before...), 0xA1)...)) // moffs
		}
		for _, xb := range []byte{0xE0, 0xC0, 0xA0, 0x80} { // X and B, stored inverted
			cells = addOperands(cells, append(append([]byte{}, size...), 0xC4, xb|1, 0x7A, 0x6F))            // VMOVDQU
			cells = addOperands(cells, append(append([]byte{}, size...), 0xC4, xb|2, 0xE1, 0x92))            // VGATHERDPD, vvvv = 3
			cells = addOperands(cells, append(append([]byte{}, size...), 0x62, xb|0x11, 0xFE, 0x48, 0x6F))   // VMOVDQU64
			cells = addOperands(cells, append(append([]byte{}, size...), 0x62, xb|0x11, 0x7E, 0x08, 0x10))   // VMOVSS: another unit
			cells = addOperands(cells, append(append([]byte{}, size...), 0xF3, 0x40|^xb>>5&7&3, 0x0F, 0x6F)) // MOVDQU
			cells = addOperands(cells, append(append([]byte{}, size...), 0x40|^xb>>5&7&3, 0xFF))             // INC .. PUSH
		}
	}
	return cells
}

// addOperands adds cells that begin with head and go on with each ModRM and SIB
// that names memory. Reg is 6: for most a destination that is no index.
func addOperands(cells []cell, head []byte) []cell {
	for mod := range byte(3) {
		for rm := range byte(8) {
			modrm := mod<<6 | 6<<3 | rm
			if rm != 4 {
				cells = append(cells, newCell(len(head), append(append([]byte{}, head...), modrm)...))
				continue
			}
			for sib := range 256 {
				cells = append(cells, newCell(len(head), append(append([]byte{}, head...), modrm, byte(sib))...))
			}
		}
	}
	return cells
}

// TestObjdumpAgreesOnAddressing compares base, index, scale, displacement and
// segment of memory operands.
func TestObjdumpAgreesOnAddressing(t *testing.T) {
	cells := addressing()
	ask(t, cells)
	compared, bad, wrong := 0, 0, 0
	for i := range cells {
		c := &cells[i]
		if c.claim.n == 0 { // a gather whose registers are not all different, or without SIB
			bad++
			continue
		}
		compared++
		in, err := Decode(c.code[:])
		d := ""
		if err != nil {
			d = err.Error()
		} else {
			d = diffInst(&in, c)
		}
		if d != "" {
			if wrong++; wrong <= 10 {
				t.Error(c.disagreement(d))
			}
		}
	}
	t.Logf("%d operands compared, %d are none, %d disagreements", compared, bad, wrong)
	if compared < 50_000 || bad > compared/20 {
		t.Errorf("%d operands compared, %d are none", compared, bad)
	}
}
