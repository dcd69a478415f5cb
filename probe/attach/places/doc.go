// Package places finds the instructions that a place in the kernel stands for (package attach): one for
// a function, and any number for a pattern, a line, or the inlined copies of a function.
//
// A line, and a copy, may have code in many pieces, since the compiler moves and mixes code. A probe
// belongs where control arrives there first: the walk in enter.go follows the function's code from
// its entry, and stops where it meets the line. So one execution of a line is one hit however many
// pieces it has; a loop within the line is no further hit, but a loop around it is one each time.
//
// Rejected: the first address of each piece (an execution would be several hits); the marks of
// statements in DWARF (they would have to be carried in the image, for each line of it).
package places
