// Package tally counts in handlers of probes, which may neither allocate nor lock, and
// draws what was counted: histograms (Hist), values (Values) and stacks (Stacks). All of
// them have a size that is fixed when they are made, and are used with atomic operations
// only. What does not fit is counted as lost.
//
// The modules funccount, funclatency, argdist and stackcount are made of them, and
// modules outside this tree may be.
//
// Rejected: counters per CPU, added up when they are read. The hit itself costs hundreds of
// instructions, an atomic addition one.
package tally
