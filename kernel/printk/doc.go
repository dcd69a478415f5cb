// Package printk is the kernel's log: short messages from any context into
// one ring in memory, from there to the console and to dmesg.
//
// A message may be logged from a trap or NMI handler that interrupted
// another message half-way on the same CPU, so almost nothing here waits:
//
//   - The text is formatted on the caller's stack first. A fault while doing
//     so (a bad string, say) leaves nothing half-made behind.
//   - A ticket from one atomic counter reserves consecutive slots of the ring;
//     each slot carries its ticket and one bit that says "finished". Readers
//     copy a record and then check that it still is what they began to read.
//   - A slot whose previous owner has not finished (the ring went round while
//     it was interrupted) is never waited for: the new record is dropped and
//     counted.
//   - The console is taken with a try-lock. A caller that does not get it leaves,
//     because the owner looks for new records once more after it has released it.
//     Only when the owner finds no end does the next caller wait, for one
//     record, to relieve it (owner_trap.go).
//
// Rejected: a lock with interrupts off (an NMI does not care), one ring per
// CPU (dmesg would have to merge, and the order is the first thing one asks
// of a log), and fmt (it allocates and calls methods of its arguments, which
// is not for trap context).
//
// Locks: consoleOwner (try-lock) is the only one; the console function is
// called under it.
package printk

// Level is the urgency of a message; smaller is more urgent.
type Level uint8

// The levels of Linux, with its numbers.
const (
	LevelEmerg   Level = iota // the system is unusable
	LevelAlert                // act at once
	LevelCrit                 // critical condition
	LevelErr                  // error
	LevelWarning              // warning
	LevelNotice               // normal but significant
	LevelInfo                 // information
	LevelDebug                // debugging
)

var levelNames = [...]string{
	"emerg", "alert", "crit", "err", "warn", "notice", "info", "debug",
}

// String returns the name dmesg(1) uses for the level.
func (l Level) String() string {
	if int(l) < len(levelNames) {
		return levelNames[l]
	}
	return "level?"
}

// maxText is the longest text of a record in bytes; longer messages are cut
// and end in "...".
const maxText = 1024
