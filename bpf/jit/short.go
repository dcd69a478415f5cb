package jit

import (
	"encoding/binary"
	"slices"
)

// A jump leads forward: at is where its distance is, 4 bytes, and to is where it leads; outside: out of the code.
type jump struct{ at, to int }

const outside = -1

// saves is how many bytes a jump takes less with a distance of one byte.
func (j jump) saves(code []byte) int {
	if code[j.at-1] == 0xE9 {
		return 3
	}
	return 4 // the opcode has a byte less, too
}

// shorten returns code in which jumps lead where they should, by a distance of one byte where that is enough, and where in
// it the distances of those are that lead outside.
func shorten(code []byte, jumps []jump) (out []byte, outward []int) {
	slices.SortFunc(jumps, func(a, b jump) int { return a.at - b.at })
	short := make([]bool, len(jumps))
	saved := func(from, to int) (n int) { // in front of to, and after from
		for i, j := range jumps {
			if short[i] && j.at >= from && j.at < to {
				n += j.saves(code)
			}
		}
		return n
	}
	for again := true; again; {
		again = false
		for i, j := range jumps {
			if from := j.at + 4; !short[i] && j.to != outside && j.to-from-saved(from, j.to) <= 127 {
				short[i], again = true, true
			}
		}
	}
	done := 0
	for i, j := range jumps {
		distance := j.to - j.at - 4 - saved(j.at+4, j.to)
		switch op := code[j.at-1]; {
		case j.to == outside:
			out = append(out, code[done:j.at]...)
			outward = append(outward, len(out))
			out = append(out, 0, 0, 0, 0)
		case !short[i]:
			out = binary.LittleEndian.AppendUint32(append(out, code[done:j.at]...), uint32(distance))
		case op == 0xE9:
			out = append(append(out, code[done:j.at-1]...), 0xEB, byte(distance))
		default:
			out = append(append(out, code[done:j.at-2]...), op-0x10, byte(distance))
		}
		done = j.at + 4
	}
	return append(out, code[done:]...), outward
}
