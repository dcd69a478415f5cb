package targets

import "testing"

// TestShapesDoWhatTheySay runs every unprivileged shape on the host's CPU,
// twice: without a probe nothing may differ.
func TestShapesDoWhatTheySay(t *testing.T) {
	for _, s := range Shapes() {
		first, err := s.Run()
		if err != nil {
			t.Error(err)
		}
		second, _ := s.Run()
		for i := range first {
			if d := first[i].Diff(&second[i]); d != "" {
				t.Errorf("%s, input %d, is not repeatable: %s", s.Name, i, d)
			}
		}
	}
	t.Logf("%d shapes", len(Shapes()))
}

func TestDiffNamesWhatDiffers(t *testing.T) {
	var a, b Result
	if d := a.Diff(&b); d != "" {
		t.Errorf("equal: %s", d)
	}
	b.R12, b.Mem[3] = 1, 2
	*b.xmm(9) = [2]uint64{7}
	const want = "R12 0x0, was 0x1; X9 [0x0 0x0], was [0x7 0x0]; Mem[3] 0x0, was 0x2"
	if d := a.Diff(&b); d != want {
		t.Errorf("%s\nwant %s", d, want)
	}
}

func TestFuncsReturnWhatTheySay(t *testing.T) {
	for _, f := range Funcs() {
		if got := f.Call(); got != f.Want {
			t.Errorf("%s: %d, want %d", f.Name, got, f.Want)
		}
	}
	if Count(12345) != CountWant(12345) {
		t.Error("Count")
	}
}
