package irq

import "testing"

// TestAlone: a line is masked, once, when only others than the driver's device ask.
func TestAlone(t *testing.T) {
	masked := 0
	a := alone{mask: func() { masked++ }}
	for range 3 {
		for range mostAlone - 1 {
			a.count(false)
		}
		a.count(true)
	}
	if masked != 0 {
		t.Error("masked while the device asks now and then")
	}
	for range 2 * mostAlone {
		a.count(false)
	}
	if masked != 1 {
		t.Errorf("masked %d times", masked)
	}
}
