package cpu

import "testing"

// machine is time in ns, which goes on with each look at it, and counters that run by it.
type machine struct{ ns uint64 }

func (m *machine) tick(hz uint64) uint64 {
	m.ns += 100
	return m.ns * (hz / 1e6) / 1e3
}

func TestMeasure(t *testing.T) {
	const tscHz, apicHz = 2400e6, 1000e6
	for _, c := range []struct {
		name string
		ref  reference
		hz   uint64 // at which it really counts
		ok   bool
	}{
		{"up", reference{hz: 3e6, mask: 0xff_ffff}, 3e6, true},
		{"down", reference{hz: 1e6, mask: 0xffff, down: true}, 1e6, true},
		{"32 bits", reference{hz: 100e6, mask: 0xffff_ffff}, 100e6, true},
		{"stands still", reference{hz: 3e6, mask: 0xff_ffff}, 0, false},
	} {
		m := &machine{ns: 16_777_216e3 - 5e6} // so that 24 bits go over
		c.ref.read = func() uint64 {
			v := m.tick(c.hz)
			if c.ref.down {
				v = -v
			}
			return v & c.ref.mask
		}
		got, ok := c.ref.measure(func() uint64 { return m.tick(tscHz) }, func() uint32 { return uint32(-m.tick(apicHz)) })
		near := func(a, b uint64) bool { return a > b-b/1000 && a < b+b/1000 }
		if ok != c.ok || ok && (!near(got.tsc, tscHz) || !near(got.apic, apicHz)) {
			t.Errorf("%s: %+v, %v", c.name, got, ok)
		}
	}
}

// A counter that jumps far makes no frequency, and nothing overflows.
func TestMeasureOfNonsense(t *testing.T) {
	n := uint64(0)
	ref := reference{hz: 1, mask: ^uint64(0), read: func() uint64 { n++; return n }}
	wild := uint64(1)
	m, ok := ref.measure(func() uint64 { wild *= 0x9e3779b97f4a7c15; return wild }, func() uint32 { return 7 })
	if ok {
		t.Errorf("%+v", m)
	}
}
