package program

import (
	"testing"

	"sonde/bpf"
	"sonde/probe/attach"
)

// hit is what a door does: true lets the hit in.
func (m *meter) hit(at, budget, takes int64) bool {
	if m.credit--; m.credit >= 0 {
		return true
	}
	if !m.grant(at, budget) {
		return false
	}
	m.add(takes)
	return true
}

// TestBudget: in each period, a CPU lets in what the budget has room for, by what hits have taken; what is
// let in, throttled and left as credit adds up to the hits.
func TestBudget(t *testing.T) {
	for _, c := range []struct{ budget, takes, want int64 }{
		{period / 50, 1000, 200}, {period / 50, 10_000, 20}, {period / 50, period, 1}, {period, 50_000, 200}, {0, period, 2000},
	} {
		m := new(meter)
		for n := range int64(10) {
			in, at := int64(0), n*period
			for range 2000 {
				if m.hit(at, c.budget, c.takes) {
					in++
				}
			}
			if n > 0 && (in < c.want || in > c.want+1) {
				t.Errorf("%+v: %d hits in period %d", c, in, n)
			}
		}
		if sum := m.granted - uint64(m.credit) + m.throttled; sum != 20_000 || m.credit < 0 {
			t.Errorf("%+v: %d of 20000 hits, %+v", c, sum, *m)
		}
		if c.budget == 0 && (m.measured < 20_000/sample || m.measured > 20_000/sample+2) {
			t.Errorf("%d are measured", m.measured)
		}
	}
}

// TestTypical: one long hit is enough to allow fewer; many short ones allow more again.
func TestTypical(t *testing.T) {
	m := new(meter)
	m.add(100)
	m.add(50_000)
	if m.typical != 50_000 {
		t.Error(m.typical)
	}
	for range 100 {
		m.add(100)
	}
	if m.typical != 100 {
		t.Error(m.typical)
	}
}

// TestDoors: they are made once, name the program's code, and go with it.
func TestDoors(t *testing.T) {
	p, _, _ := loaded(t)
	if p.door != p.entry {
		t.Error("a program is metered that nobody asked for")
	}
	stop, err := p.Watch()
	if err != nil || p.door != p.metered || p.metered == 0 {
		t.Error(p.door, err)
	}
	if start, name := codeAt(p.held + 3); start != p.metered || name != p.name {
		t.Errorf("the doors are %q's", name)
	}
	if err := p.Hold(true); err != nil || p.door != p.held {
		t.Error(err)
	}
	if err := p.Hold(false); err != nil || p.door != p.metered {
		t.Error(err)
	}
	if stop(); p.door != p.entry {
		t.Error("it is still metered")
	}
	if err := p.SetBudget(1001); err == nil || p.Budget() != 0 || p.door != p.entry {
		t.Errorf("%d, %v", p.Budget(), err)
	}
	p.Close()
	for _, busy := range code.used {
		if busy {
			t.Fatal("code is left")
		}
	}
	if err := p.Hold(true); err == nil {
		t.Error("a program is held that is gone")
	}
}

// TestMeteredFromTheBeginning: what a program's door has counted are all its hits if it had a budget before the first
// one, and has it still.
func TestMeteredFromTheBeginning(t *testing.T) {
	p := mustLoad(t, bpf.Kprobe, "r0 = 0\nexit")
	defer p.Close()
	budget := func(thousandths int, always bool) {
		t.Helper()
		if err := p.SetBudget(thousandths); err != nil || p.always != always {
			t.Errorf("a budget of %d: %v, metered from the beginning %v", thousandths, err, p.always)
		}
	}
	budget(0, false)
	budget(100, true)
	attach.Provide(attach.Tick, places{})
	if _, err := p.AttachTo(nil, "tick:9hz"); err != nil {
		t.Fatal(err)
	}
	budget(200, true)
	budget(0, false)
	budget(100, false) // it may have been hit meanwhile
}
