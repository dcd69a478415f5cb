// Package flight is the flight recorder: it keeps a copy of the end of the log in memory
// that a reset does not clear, so that the next boot can show how this one ended.
//
// A record is written there when it is logged, before a console shows it. So nothing has to
// be done at the end: after a triple fault or a watchdog's reset, everything logged before
// is there. What the Go runtime prints when it dies does not go through the log and is kept
// separately, byte by byte, and so are the last hits of probes whose handlers ask for it.
//
// The memory has two halves. A boot writes to one and does not touch the other, which has
// the previous boot's log: nothing has to be copied while there is no heap, and even after
// a boot that dies early the log before it is still there.
//
// Memory after a reset may contain anything: old words, flipped bits, firmware's data. So
// the head of each half has a checksum, and so has each record; a record's checksum starts
// from a random number of its boot, so that records of earlier boots are not mistaken for
// this one's, and the half need not be cleared. Anything with a wrong checksum is not
// shown.
//
// The mapping must not keep stores in a cache, because a reset discards those.
//
// Rejected: writing everything when the kernel dies (some deaths go unnoticed); putting the
// ring of package printk into that memory (a wild store or a flipped bit would corrupt the
// log itself); copying the old log to the heap (there is none before the runtime).
package flight
