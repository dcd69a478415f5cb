package printk

// Trap context. The caller that logs also writes to the console, so a message from
// a handler is out before the handler returns, unless another CPU has the console.

import (
	"sync/atomic"
	"unsafe"
)

// patience is how many tickets may follow an unfinished record before the console skips it:
// its writer was abandoned (a fault in a handler), or is stopped for very long.
const patience = 256

var (
	consoleHook  atomic.Pointer[func([]byte)]
	consoleLevel atomic.Uint32 // 0 means the default

	// consoleNext is the next ticket to show; written by the console's owner.
	consoleNext atomic.Uint64

	// guarded by consoleOwner:
	consoleUnseen uint64 // how many the console has reported as not shown
	consoleRecord Record
	consoleBytes  [maxText + 32]byte
)

// defaultConsoleLevel shows everything but debug messages, as Linux does.
const defaultConsoleLevel = uint32(LevelDebug)

// emit shows what is new on the console, or leaves it to the console's owner.
// Unfinished records with tickets below over will never be finished.
func emit(over uint64) {
	var here uintptr
	for consoleHook.Load() != nil && (take() || relieve()) {
		atConsole(uintptr(unsafe.Pointer(&here)))
		drain(over)
		leaveConsole()
		// Another CPU may have finished a record after our last look, and
		// failed to get the console before we released it.
		if release() || !showable() {
			return
		}
	}
}

// showable reports whether drain would show anything.
func showable() bool {
	t := consoleNext.Load()
	switch log.peek(t) {
	case atEnd:
		return false
	case unfinished:
		return log.next.Load()-t >= patience
	}
	return true
}

// drain shows all records from consoleNext on, or until another CPU waits to take over. It
// stops at an unfinished record, because its writer will show it; but it skips those below
// over, which will never be finished.
func drain(over uint64) {
	for t := consoleNext.Load(); t < over || !awaited(); t = consoleNext.Load() {
		next, st := log.get(t, &consoleRecord)
		switch st {
		case atEnd:
			return
		case unfinished:
			if t >= over && log.next.Load()-t < patience {
				return
			}
			log.unseen.Add(1)
		}
		// Moved on before the slow part: what is overwritten from here on has been copied
		// and does not count as unseen.
		consoleNext.Store(next)
		if st == ready && uint32(consoleRecord.Level) < currentConsoleLevel() {
			showUnseen()
			show(&consoleRecord)
		}
		consoleShown.Add(1)
	}
}

// showUnseen says how many records the ring lost because the console was too
// slow for them.
func showUnseen() {
	n := log.unseen.Load()
	if n == consoleUnseen {
		return
	}
	l := line{b: consoleBytes[:]}
	l.string("** ")
	l.integer(n-consoleUnseen, false, spec{verb: 'd', prec: -1})
	l.string(" printk messages dropped **\n")
	consoleUnseen = n
	consoleWrite(consoleBytes[:l.n])
}

// show writes a record to the console, each of its lines with a time stamp.
func show(rec *Record) {
	text := rec.text[:rec.n]
	for {
		var head []byte
		head, text = cutLine(text)
		l := line{b: consoleBytes[:]}
		l.stamp(rec.Time)
		l.bytes(head)
		l.byte('\n')
		consoleWrite(consoleBytes[:l.n])
		if len(text) == 0 {
			return
		}
	}
}

// cutLine splits text after its first line, without the newline.
func cutLine(text []byte) (head, rest []byte) {
	for i, c := range text {
		if c == '\n' {
			return text[:i], text[i+1:]
		}
	}
	return text, nil
}

// consoleWrite is the indirect call of this file, alone so that the trap
// check can name it.
//
//go:noinline
func consoleWrite(p []byte) {
	if f := consoleHook.Load(); f != nil {
		(*f)(p)
	}
}

func currentConsoleLevel() uint32 {
	if n := consoleLevel.Load(); n != 0 {
		return n
	}
	return defaultConsoleLevel
}
