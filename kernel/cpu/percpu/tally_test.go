package percpu

import "testing"

// TestTally: it has the sum of all CPUs, also when its memory is another's, which begins with 0.
func TestTally(t *testing.T) {
	if _, err := NewTally(); err == nil {
		t.Error("there are no CPUs")
	}
	machine(t, 3)
	a, err := NewTally()
	if err != nil || a.Sum() != 0 {
		t.Fatal(a, err)
	}
	was := a.At()
	for cpu := range 3 {
		*at(was, cpu) += uint64(cpu + 1)
	}
	if n := a.Sum(); n != 6 {
		t.Errorf("%d, want 6", n)
	}
	a.Close()
	b, err := NewTally()
	if err != nil || b.At() != was || a.At() != 0 {
		t.Errorf("%v: %#x and %#x", err, b.At(), a.At())
	}
	*at(was, 1) = 77
	a.Close()
	if a.Sum() != 6 || b.Sum() != 77 || b.At() != was {
		t.Errorf("%d, %d at %#x", a.Sum(), b.Sum(), b.At())
	}
}
