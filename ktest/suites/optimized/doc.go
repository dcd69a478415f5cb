// Package optimized tests probes that are hit by a jump instead of a breakpoint: that jumps
// are inserted where they may be and removed when they must be, that neither the probed
// code nor the handlers notice a difference, and that every call is counted meanwhile.
//
// A case about jumps checks how many there were, because a probe that was never optimized
// would pass most tests as well.
package optimized
