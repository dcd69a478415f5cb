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
