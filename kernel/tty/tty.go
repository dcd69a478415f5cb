// Package tty implements terminals as Linux does: the layer between a device that sends and
// shows bytes and programs that read lines.
//
// In canonical mode, typed characters are collected in a line that can be edited, and
// readers get it when it ends. In raw mode they get each byte at once. In both modes bytes
// are echoed, some become signals for the foreground process group, and what programs write
// is adapted for the device.
//
// It does not know processes: the foreground group is a number, and a function given to New
// sends the signals.
//
// Missing: parity and breaks, the delays of oflag, ECHOPRT, and VTIME between bytes (it
// works when VMIN is 0).
//
// Locks: TTY.mu. The device and the function for signals are called without it, the device
// under outMu, so that echo and output keep their order.
//
// Source: POSIX.1-2017, "General Terminal Interface"; Linux, man termios(3).
package tty

import (
	"io"
	"sync"
	"syscall"
	"time"

	"sonde/kernel/abi"
	"sonde/kernel/lock"
	"sonde/kernel/poll"
)

// What programs get at most at a time: a line, and what was typed ahead.
const (
	maxLine  = 4095
	maxAhead = 16 << 10
)

// Signal is a number of Linux's.
type Signal int

// The signals that a terminal sends.
const (
	SIGHUP   Signal = 1
	SIGINT   Signal = 2
	SIGQUIT  Signal = 3
	SIGCONT  Signal = 18
	SIGTSTP  Signal = 20
	SIGWINCH Signal = 28
)

// Winsize is the size of the screen, in characters and dots.
type Winsize = abi.Winsize

// TTY is a terminal.
type TTY struct {
	queue poll.Queue

	outMu sync.Mutex
	out   io.Writer // guarded by outMu

	mu sync.Mutex
	// guarded by mu:
	signal  func(group int, s Signal)
	termios Termios
	size    Winsize
	group   int // in the foreground; 0: no program's
	hungUp  bool
	stopped bool // by VSTOP
	column  int  // of the cursor

	line    []byte   // being typed
	start   int      // the column where it begins
	literal bool     // the next byte means itself
	lines   [][]byte // that readers can have; an empty one is the end of the file
	ahead   int      // bytes in lines
	timer   *time.Timer
	expired bool // VTIME is over

	opens    int     // handles
	used     bool    // there has been one
	isLocked bool    // a slave that cannot be opened yet
	master   *Master // of a pseudo-terminal; does not change

	pending []byte // output and echo not yet given to the device
	signals []Signal
}

// New returns a terminal that shows its output on out. signal is called for each
// signal to the foreground group; it must not call the terminal. It may be nil.
func New(out io.Writer, signal func(group int, s Signal)) *TTY {
	return &TTY{signal: signal, out: out, termios: Sane, size: Winsize{Rows: 24, Cols: 80}}
}

// OnSignal sets the function that sends the signals from now on, as for New.
func (t *TTY) OnSignal(signal func(group int, s Signal)) { lock.Set(&t.mu, &t.signal, signal) }

// locked runs f under mu, and then does what f has left to do outside of it. f
// returns what has changed, for waiters.
func (t *TTY) locked(f func() poll.Events) {
	signals, group, signal, changed := t.underLock(f)
	t.flush()
	if changed != 0 {
		t.queue.Notify(changed)
	}
	for _, s := range signals {
		if group > 0 && signal != nil {
			signal(group, s)
		}
	}
}

// underLock runs f, and returns which signals are to be sent, to whom and how.
func (t *TTY) underLock(f func() poll.Events) (signals []Signal, group int, signal func(int, Signal), changed poll.Events) {
	t.mu.Lock()
	defer t.mu.Unlock()
	changed = f()
	signals, t.signals = t.signals, nil
	return signals, t.group, t.signal, changed
}

// flush gives the device what is pending, in order.
func (t *TTY) flush() {
	t.outMu.Lock()
	defer t.outMu.Unlock()
	if p := t.takePending(); len(p) > 0 {
		t.out.Write(p)
	}
}

func (t *TTY) takePending() []byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	p := t.pending
	t.pending = nil
	return p
}

// Termios returns the modes.
func (t *TTY) Termios() Termios { return lock.Get(&t.mu, &t.termios) }

// SetTermios sets the modes. discard forgets what was typed and not read, as TCSETSF
// does; drain would wait until all output is shown, which it is when Write returns.
//
// Errors: EIO when it has hung up.
func (t *TTY) SetTermios(m Termios, drain, discard bool) (err error) {
	t.locked(func() poll.Events {
		if t.hungUp {
			err = syscall.EIO
			return 0
		}
		if discard {
			t.forget()
		}
		if t.termios.Lflag&ICANON != 0 && m.Lflag&ICANON == 0 && len(t.line) > 0 {
			t.enter() // what was being typed can be read now
		}
		t.termios = m
		if m.Iflag&IXON == 0 {
			t.stopped = false
		}
		return poll.In | poll.Out
	})
	return err
}

// Winsize returns the size of the screen.
func (t *TTY) Winsize() Winsize { return lock.Get(&t.mu, &t.size) }

// SetWinsize sets the size, and tells the foreground group if it is another.
func (t *TTY) SetWinsize(size Winsize) {
	t.locked(func() poll.Events {
		if size != t.size {
			t.size = size
			t.signals = append(t.signals, SIGWINCH)
		}
		return 0
	})
}

// Foreground returns the group of processes in the foreground, 0 if there is none.
func (t *TTY) Foreground() int { return lock.Get(&t.mu, &t.group) }

// SetForeground puts a group of processes into the foreground.
func (t *TTY) SetForeground(group int) { lock.Set(&t.mu, &t.group, group) }

// Flush forgets what was typed and not read, as TCIFLUSH does.
func (t *TTY) Flush() {
	t.locked(func() poll.Events {
		t.forget()
		return poll.Out // a master may type again
	})
}

// FlushOutput forgets what was written and not shown, as TCOFLUSH does: what a master has
// not read.
func (t *TTY) FlushOutput() {
	if t.master != nil {
		t.master.shown(make([]byte, 2*mostOutput))
		t.queue.Notify(poll.Out)
	}
}

// Unshown returns how many bytes of output are on their way, for TIOCOUTQ.
func (t *TTY) Unshown() int {
	if t.master == nil {
		return 0
	}
	return t.master.Buffered()
}

// Stop stops output, as VSTOP does, or lets it continue.
func (t *TTY) Stop(on bool) {
	t.locked(func() poll.Events {
		t.stopped = on
		return poll.Out
	})
}

// forget drops all input. Context: mu held.
func (t *TTY) forget() { t.line, t.lines, t.ahead, t.literal = nil, nil, 0, false }

// HungUp reports whether HangUp has been.
func (t *TTY) HungUp() bool { return lock.Get(&t.mu, &t.hungUp) }

// HangUp ends the terminal for all open files of it: reading is at its end,
// writing an error, and the foreground group gets SIGHUP and SIGCONT.
func (t *TTY) HangUp() { t.hangUp(nil) }

// hangUp is HangUp; before the signals it calls leave, if there is one. So whoever handles
// the signal finds that the terminal is gone.
func (t *TTY) hangUp(leave func(*TTY)) {
	var signals []Signal
	t.locked(func() poll.Events {
		if t.hungUp {
			return 0
		}
		t.hungUp = true
		t.forget()
		signals = []Signal{SIGHUP, SIGCONT}
		return poll.Hup
	})
	if leave != nil {
		leave(t)
	}
	t.locked(func() poll.Events {
		t.signals = append(t.signals, signals...)
		return 0
	})
}
