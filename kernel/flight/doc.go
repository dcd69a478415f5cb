// Package flight is the flight recorder: a copy of the end of the log in memory that a
// reset does not clear, so that the next boot can tell how this one ended.
//
// A record is written there when it is logged, before a console shows it. Nothing has to
// be done at the end: a triple fault or a watchdog's reset leaves all that was logged
// before. What the Go runtime prints when it dies does not go through the log and is
// kept beside it, byte by byte; so are the last hits of probes whose handlers say so.
//
// The memory is two halves. A boot writes to one and leaves the other alone, which holds
// the boot before: nothing has to be copied while there is no heap, and a boot that dies
// early still finds what it could have shown.
//
// Memory after a reset may hold anything: old words, bits that have turned, what
// firmware has left. So a half's head has a checksum, and each record has its own, which
// begins with a number drawn for this boot: records of earlier boots do not pass for this
// one's, and the half need not be cleared. What does not fit its checksum is not shown.
//
// The mapping is to be one that does not keep stores in a cache: a reset drops those.
//
// Rejected: to write it all when the kernel dies (some deaths are not noticed); the ring of
// package printk itself in that memory (a wild store or a bit there would be the log's); a
// copy of the old log on the heap (there is none before the runtime).
package flight
