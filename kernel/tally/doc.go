// Package tally counts in probe handlers, which must neither allocate nor lock: values by
// their powers of two (Hist), and how often each key came (Counts). Each has a fixed size, set
// when it is made, and a part for each CPU; they use only atomic operations. What does not fit
// is counted as lost.
//
// The modules funccount, funclatency, argdist and stackcount use it, and so may modules
// outside this tree.
package tally
