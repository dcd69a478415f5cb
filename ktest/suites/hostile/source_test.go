package hostile

import (
	"fmt"
	"testing"
)

// TestASeedIsASequence: a failure can be had again.
func TestASeedIsASequence(t *testing.T) {
	a, b, other := newSource(7, []string{"a.b", "c"}), newSource(7, []string{"a.b", "c"}), newSource(8, []string{"a.b", "c"})
	same := 0
	for i := range 5000 {
		x, y := a.value()+a.name()+fmt.Sprint(a.number()), b.value()+b.name()+fmt.Sprint(b.number())
		if x != y {
			t.Fatalf("input %d: %q, then %q", i, x, y)
		}
		if x == other.value()+other.name()+fmt.Sprint(other.number()) {
			same++
		}
	}
	if same > 50 {
		t.Errorf("%d of 5000 inputs of two seeds are the same", same)
	}
}
