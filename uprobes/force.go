package uprobes

import (
	"sync/atomic"

	"sonde/uprobes/place"
)

// forced is the place.Way that Force has set.
var forced atomic.Uint32

// Force makes new points use the given way wherever it is correct, instead of the cheapest,
// so that tests can try all of them. place.Refused ends that.
//
// Context: any.
func Force(w place.Way) { forced.Store(uint32(w)) }

// decide is place.Decide with Force applied.
func decide(code []byte, addr uint64) (*place.Plan, error) {
	plan, err := place.Decide(code, addr)
	if w := place.Way(forced.Load()); err == nil && plan.Allows(w) {
		return plan.As(w)
	}
	return plan, err
}
