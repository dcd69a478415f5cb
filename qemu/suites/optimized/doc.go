// Package optimized tests probes that are hit by a jump instead of a
// breakpoint: that jumps go in where they may and come out when they must, that
// neither the probed code nor the handlers notice a difference, and that every
// call is counted while they go in and out.
//
// A case that is about jumps says how many there were: a probe that was never
// optimized would pass most tests as well.
package optimized
