// Package region finds the instructions that a jump covers, and what leads into them.
package region

import "fmt"

// jump is the length of a jump, in bytes.
const jump = 5

// An Inst is an instruction of a function: where it begins, how long it is, and where it may branch to; -1: nowhere.
type Inst struct{ Off, Len, To int }

// Check returns the length of the region of a jump at offset at. why is not empty if there can be none: the function
// ends too early, no instruction begins there, or a branch ends in the region after its first byte.
func Check(function []Inst, at int) (size int, why string) {
	end := -1
	for _, in := range function {
		if in.Off == at {
			end = at
		}
		if end >= 0 && end < at+jump && in.Off == end {
			end += in.Len
		}
	}
	switch {
	case end < 0:
		return 0, "no instruction begins there"
	case end < at+jump:
		return 0, fmt.Sprintf("the function ends at +%#x", end)
	}
	for _, in := range function {
		if in.To > at && in.To < at+jump {
			return 0, fmt.Sprintf("a branch ends at +%#x", in.To)
		}
	}
	return end - at, ""
}
