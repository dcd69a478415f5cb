package sysbpf

import (
	"syscall"

	"sonde/kernel/refusal"
)

// log is where a process wants to know why something was refused.
//
// Source: Linux, kernel/bpf/log.c describes it by what it does: a text that is too long leaves its last bytes, or
// its first ones if that is asked for; and ENOSPC, also if there was nothing to refuse.
type log struct {
	c        *call
	level    uint32
	size     int
	at       uint64
	trueSize int // where among the arguments the size goes that the whole text takes
}

// Levels of logs, which are bits.
const (
	logPaths = 1 // the path that was refused; 2: all paths
	logStats = 4
	logFixed = 8 // the first bytes stay if not all fit
	logKnown = 15
)

// logLeast and logMost are how many bytes a log has.
const (
	logLeast = 128
	logMost  = 1<<30 - 1
)

// newLog checks what is said of a log.
//
// Errors: EINVAL.
func (c *call) newLog(level, size uint32, at uint64, trueSize int) (*log, error) {
	switch {
	case (at == 0) != (size == 0), at != 0 && level == 0, level&^logKnown != 0, size > logMost, at != 0 && size < logLeast:
		return nil, refusal.New(syscall.EINVAL, "a log of level %d, of %d bytes at %#x", level, size, at)
	}
	return &log{c, level, int(size), at, trueSize}, nil
}

// write writes the text, and returns err, or what went wrong on the way.
func (l *log) write(text string, err error) error {
	if l.level == 0 {
		return err
	}
	whole := len(text) + 1
	if fault := l.c.put32(l.trueSize, uint32(whole)); fault != nil {
		return fault
	}
	if l.at == 0 {
		return err
	}
	if room := l.size - 1; len(text) > room && l.level&logFixed != 0 {
		text = text[:room]
	} else if len(text) > room {
		text = text[len(text)-room:]
	}
	if fault := l.c.Out(l.at, append([]byte(text), 0)); fault != nil {
		return fault
	}
	if whole > l.size {
		return refusal.New(syscall.ENOSPC, "the log takes %d bytes, and there is room for %d", whole, l.size)
	}
	return err
}
