package main

import "time"

// The reference machine does rounds of the known workload in this time.
const (
	rounds    = 200_000_000
	reference = 300 * time.Millisecond
)

// margin is how many times as long as on the reference machine, slowed by the factor, a test may take.
const margin = 3

// maxFactor is how much slower than the reference a machine may be. Tests allow more: no one gets points
// from them.
var maxFactor = 50.0

// measure returns how many times as long this machine takes now as the reference does, at least 1.
func measure() float64 {
	begun := time.Now()
	x := uint64(begun.UnixNano()) | 1
	for range rounds {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
	}
	took := time.Since(begun)
	if x == 0 { // it never is: the loop must not be left out
		took++
	}
	return max(1, float64(took)/float64(reference))
}

// limit is how long a test may take on a machine that is slower by a factor.
func (t *Test) limit(factor float64) time.Duration {
	return time.Duration(float64(t.Limit) * factor * margin)
}
