package region

import "testing"

// sum is the function rules.sum, as explain shows it.
var sum = []Inst{
	{0, 2, -1}, {2, 2, -1}, {4, 2, 0x12}, {6, 3, -1}, {9, 3, -1}, {0xc, 3, -1}, {0xf, 3, -1}, {0x12, 3, -1}, {0x15, 2, 6}, {0x17, 3, -1}, {0x1a, 1, -1},
}

func TestCheck(t *testing.T) {
	for at, want := range map[int]struct {
		size int
		why  string
	}{
		0: {6, ""}, 2: {0, "a branch ends at +0x6"}, 4: {0, "a branch ends at +0x6"}, 6: {6, ""}, 1: {0, "no instruction begins there"},
		0x17: {0, "the function ends at +0x1b"}, 0xf: {0, "a branch ends at +0x12"}, 0x12: {5, ""}, 0x15: {5, ""},
	} {
		if size, why := Check(sum, at); size != want.size || why != want.why {
			t.Errorf("+%#x: %d, %q; want %d, %q", at, size, why, want.size, want.why)
		}
	}
}
