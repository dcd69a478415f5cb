// Package tally counts in probe handlers, which must neither allocate nor lock, and prints
// the result: histograms (Hist), values (Values) and stacks (Stacks). Each has a fixed
// size, set when it is made, and uses only atomic operations. What does not fit is counted
// as lost.
//
// The modules funccount, funclatency, argdist and stackcount use it, and so may modules
// outside this tree.
//
// Rejected: counters per CPU, added up when they are read. The hit itself costs hundreds of
// instructions, an atomic addition one.
package tally
