package insn

import "testing"

// fn is push rbp; mov rbp, rsp; jcc; long nop; vzeroupper; ret; int3 padding.
const fn = "55 48 89 e5 74 0a 66 0f 1f 84 00 00 00 00 00 c5 f8 77 c3 cc cc cc"

func TestWalkVisitsEveryInstruction(t *testing.T) {
	code := unhex(t, fn)
	want := []int{0, 1, 4, 6, 15, 18, 19, 20, 21}
	var got []int
	off, err := Walk(code, func(off int, in Inst) bool {
		got = append(got, off)
		return true
	})
	if err != nil || off != len(code) {
		t.Fatalf("stopped at %d: %v", off, err)
	}
	if len(got) != len(want) {
		t.Fatalf("got %v, want %v", got, want)
	}
	for n := range want {
		if got[n] != want[n] {
			t.Fatalf("got %v, want %v", got, want)
		}
	}
}

func TestWalkStops(t *testing.T) {
	off, err := Walk(unhex(t, fn), func(off int, in Inst) bool { return in.Flow == Next })
	if off != 4 || err != nil {
		t.Errorf("when told so: got %d, %v, want 4, nil", off, err)
	}
	off, err = Walk(unhex(t, "90 90 06 90"), func(int, Inst) bool { return true })
	if off != 2 || err != ErrInvalid {
		t.Errorf("at an error: got %d, %v, want 2, %v", off, err, ErrInvalid)
	}
}

func TestBoundaryAt(t *testing.T) {
	code := unhex(t, fn)
	starts := map[int]uint8{0: 1, 1: 3, 4: 2, 6: 9, 15: 3, 18: 1, 19: 1, 20: 1, 21: 1}
	for off := range code {
		in, err := BoundaryAt(code, off)
		n, is := starts[off]
		if is && (err != nil || in.Len != n) {
			t.Errorf("%d: got length %d, %v, want %d", off, in.Len, err, n)
		}
		if !is && err != ErrBoundary {
			t.Errorf("%d: got %v, want %v", off, err, ErrBoundary)
		}
	}
	for _, off := range []int{-1, len(code), len(code) + 1} {
		if _, err := BoundaryAt(code, off); err != ErrRange {
			t.Errorf("%d: got %v, want %v", off, err, ErrRange)
		}
	}
}

func TestBoundaryAtRefusesDataInText(t *testing.T) {
	for _, c := range []struct {
		name, code string
		want       error
	}{
		{"undefined opcode behind the return", "55 5d c3 06", ErrInvalid},
		{"cut off", "55 5d c3 e8 00", ErrTruncated},
		{"APX or data", "55 5d c3 d5 00 00 00", ErrRefused},
	} {
		if _, err := BoundaryAt(unhex(t, c.code), 0); err != c.want {
			t.Errorf("%s: got %v, want %v", c.name, err, c.want)
		}
	}
}
