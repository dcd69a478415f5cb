//go:build !tamago

package lab5

import "sonde/arch/amd64/insn"

// Check returns how many bytes the instructions have that a jump at offset off would replace, if it
// may replace them. Otherwise it returns 0 and a reason; if there are several, any of them.
//
// NoFunction means that the function has bytes that do not decode, or a jump through a register or
// memory, or that something leads into the middle of one of its instructions: then there is no jump
// anywhere in it.
func Check(fn Function, off int) (size int, why Reason) {
	begins := boundaries(fn)
	if off < 0 || off >= len(fn.Code) || !begins[off] {
		return 0, Boundary
	}
	return 0, End // the other rules
}

// boundaries returns for each byte of a function whether an instruction begins there.
func boundaries(fn Function) []bool {
	begins := make([]bool, len(fn.Code))
	for off := 0; off < len(fn.Code); {
		in, err := insn.Decode(fn.Code[off:])
		if err != nil {
			break
		}
		begins[off] = true
		off += int(in.Len)
	}
	return begins
}
