package program

// Trap context, and goroutines with interrupts off: what the door of a program leads to.

import (
	"unsafe"

	"sonde/probe/attach"
)

// A meter is one CPU's account of a program. The code of the doors knows where credit and idle are.
type meter struct {
	credit int64  // hits that enter before the next one that is measured; the code takes 1 off
	idle   uint64 // hits while the program was held; the code adds 1

	granted   uint64 // hits that have been allowed to enter, those of credit included
	throttled uint64
	measured  uint64 // hits
	spent     uint64 // ns, of these
	typical   int64  // ns of a hit, of the last ones that were measured: rises at once, and falls slowly
	left      int64  // hits that the budget allows until then
	until     int64  // ns since boot
	_         [7]uint64
}

const (
	_      = -(unsafe.Sizeof(meter{}) ^ 1<<meterShift)
	sample = 64         // one hit of so many is measured
	period = 10_000_000 // ns for which a budget is made to hits
)

// helpMeter runs a program whose credit is used up: it measures this hit, and gives credit for the next
// ones, unless the budget has none left.
func helpMeter(hit *attach.Hit, v *version, cpu int) {
	p := v.prog
	m := &p.meters[cpu]
	flags := irqOff()
	begin := now()
	granted := m.grant(begin, p.budget.Load())
	irqRestore(flags)
	if !granted {
		return
	}
	nested := p.nested[cpu].n
	hit.Call(handler(&v.entry))
	flags = irqOff()
	if p.nested[cpu].n == nested { // it has run
		m.add(now() - begin)
	}
	irqRestore(flags)
}

// grant gives credit for some hits, of which this is the first. budget is ns of a period; 0: there is
// none.
func (m *meter) grant(at, budget int64) bool {
	n := int64(sample)
	switch {
	case m.measured == 0:
		n = 1
	case budget != 0:
		if at >= m.until {
			m.until, m.left = at+period, max(1, budget/max(1, m.typical))
		}
		if m.left <= 0 {
			m.throttled++
			m.credit++
			return false
		}
		n = min(n, m.left)
		m.left -= n
	}
	m.credit += n
	m.granted += uint64(n)
	return true
}

// add notes what a hit took.
func (m *meter) add(ns int64) {
	m.measured++
	m.spent += uint64(ns)
	m.typical = max(ns, m.typical-m.typical/8)
}
