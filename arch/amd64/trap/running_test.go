package trap

import "testing"

// TestRescue: what runs outside of the part of the stack that is given up goes on.
func TestRescue(t *testing.T) {
	for _, c := range []struct{ running, want uint32 }{{0, 0}, {400, 0}, {599, 0}, {399, 399}, {600, 600}} {
		cpu := CPU{State: State{running: c.running}}
		if runs := c.running != c.want; cpu.Runs(400, 600) != runs {
			t.Errorf("%d: runs: %v", c.running, !runs)
		}
		if cpu.Rescue(400, 600); cpu.State.running != c.want {
			t.Errorf("%d: %d, want %d", c.running, cpu.State.running, c.want)
		}
	}
}
