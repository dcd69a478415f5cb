package printk

import (
	"io"
	"iter"
	"strings"
	"sync/atomic"
	"syscall"

	"sonde/kernel/refusal"
)

// Record is one message as read back from the ring.
type Record struct {
	Seq   uint64 // its position in the log; grows, not always by one
	Time  int64  // ns since boot
	Level Level
	CPU   int

	n    int
	text [maxText]byte
}

// Text returns the message without time stamp and without final newline. It
// is valid as long as the record.
func (r *Record) Text() []byte { return r.text[:r.n] }

// cleared is the first ticket that Records shows: Clear moves it.
var cleared atomic.Uint64

// SetConsoleLevel sets which messages are shown: those with a level smaller
// than n. 1 leaves only emergencies, 8 shows all.
//
// Errors: EINVAL.
func SetConsoleLevel(n int) error {
	if n < 1 || n > int(LevelDebug)+1 {
		return refusal.New(syscall.EINVAL, "console level %d: give 1 to 8", n)
	}
	consoleLevel.Store(uint32(n))
	return nil
}

// Records iterates over the finished records from the oldest on, up to what
// is there when it starts. The record is reused by the next round.
func Records() iter.Seq[*Record] {
	return func(yield func(*Record) bool) {
		rec := new(Record)
		end := log.next.Load()
		for t := max(cleared.Load(), log.oldest()); t < end; {
			next, st := log.get(t, rec)
			if st == ready && !yield(rec) {
				return
			}
			t = next
		}
	}
}

// Dmesg writes the log as dmesg(1) does, without the records that are less
// urgent than max.
func Dmesg(w io.Writer, max Level) error {
	_, err := DmesgFrom(w, max, 0)
	return err
}

// DmesgFrom is Dmesg for the records whose Seq is at least from. next is the Seq of the first
// record to come.
func DmesgFrom(w io.Writer, max Level, from uint64) (next uint64, err error) {
	var text [maxText + 32]byte
	next = from
	for rec := range Records() {
		if rec.Seq < from {
			continue
		}
		next = rec.Seq + 1
		if rec.Level > max {
			continue
		}
		for rest := rec.Text(); ; {
			var head []byte
			head, rest = cutLine(rest)
			l := line{b: text[:]}
			l.stamp(rec.Time)
			l.bytes(head)
			l.byte('\n')
			if _, err := w.Write(text[:l.n]); err != nil {
				return next, err
			}
			if len(rest) == 0 {
				break
			}
		}
	}
	return next, nil
}

// Clear hides the records logged so far from Records and Dmesg.
func Clear() { cleared.Store(log.next.Load()) }

// Stats counts what is no longer in the log or never got there.
type Stats struct {
	Overwritten uint64 // made room for newer records
	Unseen      uint64 // were not shown, because the console was late
	Dropped     uint64 // found their slot still being written, or were an echo too many
}

// ReadStats returns the counts since boot.
func ReadStats() Stats {
	return Stats{log.overwritten.Load(), log.unseen.Load(), log.dropped.Load()}
}

// Lines logs a text of many lines, such as a stack, one record per line.
func Lines(level Level, text string) {
	for s := range strings.Lines(text) {
		Printk(level, "%s", s)
	}
}

// ParseLevel reads a level given by number or name.
//
// Errors: EINVAL.
func ParseLevel(s string) (Level, error) {
	for i, name := range levelNames {
		if s == name || len(s) == 1 && int(s[0]-'0') == i {
			return Level(i), nil
		}
	}
	return 0, refusal.New(syscall.EINVAL, "level %q: give 0 to 7, or emerg to debug", s)
}
