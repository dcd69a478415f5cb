package cpu

import (
	"math/bits"

	"sonde/kernel/acpi"
)

// A reference is a counter of known frequency, which may not run, or not be there.
type reference struct {
	name, title string
	prepare     func(ref *reference, a *acpi.Info) bool // false: it is not there
	read        func() uint64
	hz          uint64
	mask        uint64
	down        bool // it counts down
	runs        bool // that is sure
}

// measured is what a reference has shown: ticks a second, and the TSC when that began.
type measured struct{ tsc, apic, start uint64 }

// maxReads is how often a reference that may stand still is read: a second or so, as a port
// takes a microsecond.
const maxReads = 1 << 20

// measurements is how often measure is tried at most.
const measurements = 256

// calibrate measures until the least frequency has been measured twice, or if there are others
// three times. Where the host takes the CPU away for so long that the reference goes round, the
// counters seem to be too fast, never too slow. Each measurement is for another part of a second:
// those in which it went round then differ, and on a busy host the short ones succeed. It fails if
// measure does, or if none comes again, as the reference jumps or the host is busy all the time:
// least is the least frequency then, 0 if there is none.
func calibrate(measure func(part uint64) (measured, bool)) (least measured, ok bool) {
	same, enough := 0, 2
	for n := range uint64(measurements) {
		m, ok := measure(100 + 15*min(n, 20))
		switch {
		case !ok:
			return least, false
		case near(m.tsc, least.tsc) && near(m.apic, least.apic):
			if same++; same == enough {
				least.tsc, least.apic = mean(least.tsc, m.tsc), mean(least.apic, m.apic)
				return least, true
			}
			continue
		case n > 0:
			enough = 3 // by chance two are the same now and then
		}
		if least.tsc == 0 || m.tsc < least.tsc {
			least, same = m, 1
		}
	}
	return least, false
}

// near reports whether a and b are the same but for 1/512.
func near(a, b uint64) bool { return max(a, b)-min(a, b) <= b/512 }

func mean(a, b uint64) uint64 { return min(a, b) + (max(a, b)-min(a, b))/2 }

// measure counts for a part of a second how often the TSC and the local APIC's timer, which counts
// down, tick. It fails if the reference, or one of those, does not run.
func (ref *reference) measure(tsc func() uint64, apic func() uint32, part uint64) (m measured, ok bool) {
	t0, r0 := ref.sample(tsc)
	a0 := apic()
	reads := 0
	for ref.since(r0) < ref.hz/part {
		if reads++; reads > maxReads && !ref.runs {
			return m, false
		}
	}
	t1, r1 := ref.sample(tsc)
	a1 := apic()
	ticks := (r1 - r0) & ref.mask
	if ref.down {
		ticks = (r0 - r1) & ref.mask
	}
	m = measured{scale(t1-t0, ref.hz, ticks), scale(uint64(a0-a1), ref.hz, ticks), t0}
	return m, m.tsc != 0 && m.apic != 0
}

// scale returns n*hz/ticks, 0 if that overflows.
func scale(n, hz, ticks uint64) uint64 {
	hi, lo := bits.Mul64(n, hz)
	if hi >= ticks {
		return 0
	}
	q, _ := bits.Div64(hi, lo, ticks)
	return q
}

// sample reads TSC and reference together: the try with the least time between,
// since an emulator or a hypervisor may take the CPU away at any moment.
func (ref *reference) sample(tsc func() uint64) (t, r uint64) {
	best := ^uint64(0)
	for range 16 {
		t0 := tsc()
		v := ref.read()
		if t1 := tsc(); t1-t0 < best {
			best, t, r = t1-t0, t0+(t1-t0)/2, v
		}
	}
	return t, r
}

func (ref *reference) since(r0 uint64) uint64 {
	r := ref.read()
	if ref.down {
		return (r0 - r) & ref.mask
	}
	return (r - r0) & ref.mask
}
