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

// levelNames are those that dmesg(1) uses.
var levelNames = [...]string{
	"emerg", "alert", "crit", "err", "warn", "notice", "info", "debug",
}
