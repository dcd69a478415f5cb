package cpu

import (
	"math/rand/v2"
	"testing"
)

// machine is time in ns, which advances with each look at it, and counters that run by it.
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
		got, ok := c.ref.measure(func() uint64 { return m.tick(tscHz) }, func() uint32 { return uint32(-m.tick(apicHz)) }, 50)
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
	m, ok := ref.measure(func() uint64 { wild *= 0x9e3779b97f4a7c15; return wild }, func() uint32 { return 7 }, 50)
	if ok {
		t.Errorf("%+v", m)
	}
}

// TestCalibrate: a host that takes the CPU away makes a reference go round, and its measurements
// too high, by chance by the same factor.
func TestCalibrate(t *testing.T) {
	const hz, apic = 2596e6, 1000e6
	for _, c := range []struct {
		name  string
		times []float64 // what is measured, by the truth
		tsc   uint64    // 0: it fails
		took  int
	}{
		{"quiet", []float64{1, 1.0005}, hz * 1.00025, 2},
		{"busy at first", []float64{3.75, 1, 2.8, 1.0005, 1.001}, hz * 1.0005, 5},
		{"busy twice in another way", []float64{3.75, 2.5, 1, 1, 1}, hz, 5},
		{"busy, then between", []float64{1, 2.2, 3.75, 3.75, 3.75, 1, 1}, hz, 7},
		{"never twice the same", nil, 0, measurements},
	} {
		n := 0
		m, ok := calibrate(func(uint64) (measured, bool) {
			x := 1 / float64(n+1)
			if c.times != nil {
				x = c.times[n]
			}
			n++
			return measured{tsc: uint64(hz * x), apic: uint64(apic * x)}, true
		})
		if n != c.took || ok != (c.tsc != 0) || ok && (max(m.tsc, c.tsc)-min(m.tsc, c.tsc) > 2 || m.apic < apic) {
			t.Errorf("%s: %+v, %v after %d measurements; want %d after %d", c.name, m, ok, n, c.tsc, c.took)
		}
		if wild := uint64(hz / float64(measurements)); c.times == nil && m.tsc != wild {
			t.Errorf("%s: %d, and the least was %d", c.name, m.tsc, wild)
		}
	}
	if m, ok := calibrate(func(uint64) (measured, bool) { return measured{}, false }); ok || m != (measured{}) {
		t.Error("a reference that does not run:", m, ok)
	}
}

// TestPITOnABusyHost: 16 bits are gone round after 55 ms, and the host takes the CPU away for
// longer, most of the time.
func TestPITOnABusyHost(t *testing.T) {
	const tscHz = 2596e6
	rng := rand.New(rand.NewPCG(1, 2))
	worst := uint64(0)
	for range 2000 {
		m := &machine{}
		next := uint64(5e6)
		stall := func() {
			if m.ns > next { // 4 ms or so of CPU, then up to 100 ms without, but for one time in four
				if rng.IntN(4) != 0 {
					m.ns += uint64(rng.IntN(100e6))
				}
				next = m.ns + uint64(rng.IntN(12e6))
			}
		}
		ref := reference{hz: 1193182, mask: 0xffff, down: true}
		ref.read = func() uint64 {
			stall()
			m.ns += 1000
			return -(m.ns * 1193182 / 1e9) & 0xffff
		}
		got, ok := calibrate(func(part uint64) (measured, bool) {
			start := m.ns
			return ref.measure(func() uint64 { return m.tick(tscHz) }, func() uint32 { return uint32(-(m.ns - start)) }, part)
		})
		if !ok {
			t.Fatalf("no two measurements agree")
		}
		worst = max(worst, got.tsc)
		if !near(got.tsc, tscHz) {
			t.Errorf("%d MHz", got.tsc/1e6)
		}
	}
	t.Logf("at most %d MHz", worst/1e6)
}
