// Package ring passes records of any size from trap context to goroutines. Each CPU has a
// part of its own, in memory that is allocated when the ring is made. A writer takes no
// lock, waits for nothing and wakes nothing; what does not fit is counted as lost.
//
// A writer reserves room, fills it in, and submits or discards it:
//
//	w := r.Writer(trap.ID(regs))
//	if p := w.Reserve(unsafe.Sizeof(event{}), cpu.Nanotime()); p != nil {
//		*(*event)(p) = event{...}
//		w.Submit()
//	}
//
// Writers of one CPU may interrupt each other at any instruction, as traps do: the inner
// one ends before the outer one continues. So a counter of reservations in progress suffices:
// readers see what was written up to the last moment at which it was 0. A handler that is
// abandoned between Reserve and Submit therefore hides what its CPU writes afterwards, and
// when that has filled the memory, the rest is counted as lost.
//
// Readers take the records of all CPUs in the order of their times. A ring is a
// poll.Source. Since writers wake nothing, a goroutine looks into the ring every 10 ms, but only
// while there is a reader.
//
// Rejected: a mark in each record's header that says whether it is finished. Readers would
// have to clear what they have read, because any bytes may look like a header. Also:
// overwriting the oldest record instead of losing the newest. The writer would have to move
// the reader's position, and the reader to check whether it has copied garbage.
package ring
