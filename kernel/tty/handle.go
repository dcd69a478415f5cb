package tty

import (
	"io"
	"io/fs"
	"syscall"
	"time"

	"sonde/kernel/lock"
	"sonde/kernel/poll"
	"sonde/kernel/vfs"
)

// Handle is a terminal that is open.
type Handle struct {
	vfs.Stream
	*TTY
}

// Device is the node of a terminal, to bind to a name.
type Device struct {
	*TTY
	Major, Minor uint32
}

// Stat implements vfs.Node.
func (d *Device) Stat() vfs.Info {
	return vfs.Info{Mode: fs.ModeDevice | fs.ModeCharDevice | 0620, RDev: vfs.MakeDev(d.Major, d.Minor)}
}

// Open implements vfs.Opener.
//
// Errors: EIO when it has hung up, or is a slave that is locked.
func (d *Device) Open(int) (vfs.Handle, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.hungUp || d.isLocked {
		return nil, syscall.EIO
	}
	d.opens++
	d.used = true
	return Handle{TTY: d.TTY}, nil
}

// ReadAt implements vfs.Handle. In canonical mode it returns at most a line.
//
// Errors: EAGAIN when there is none, io.EOF.
func (h Handle) ReadAt(p []byte, _ int64) (int, error) {
	n, err := h.TTY.read(p)
	if n > 0 {
		h.queue.Notify(poll.Out) // a master may type again
	}
	return n, err
}

// read is ReadAt.
func (t *TTY) read(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.hungUp:
		return 0, io.EOF
	case t.termios.Lflag&ICANON == 0:
		return t.readRaw(p)
	case len(t.lines) == 0:
		return 0, syscall.EAGAIN
	case len(t.lines[0]) == 0:
		t.lines = t.lines[1:]
		return 0, io.EOF
	}
	n := t.take(p)
	return n, nil
}

// take gives a reader bytes of the first line. Context: mu held.
func (t *TTY) take(p []byte) int {
	n := copy(p, t.lines[0])
	t.ahead -= n
	if t.lines[0] = t.lines[0][n:]; len(t.lines[0]) == 0 {
		t.lines = t.lines[1:]
	}
	return n
}

// readRaw reads what VMIN and VTIME allow. Context: mu held.
func (t *TTY) readRaw(p []byte) (n int, err error) {
	if t.ahead < min(t.least(), len(p)) {
		t.startTimer()
		return 0, syscall.EAGAIN
	}
	for n < len(p) && len(t.lines) > 0 {
		n += t.take(p[n:])
	}
	t.stopTimer()
	if n == 0 {
		return 0, io.EOF // VMIN is 0, or time is over
	}
	return n, nil
}

// least is how many bytes there must be before a raw read returns. Context: mu held.
func (t *TTY) least() int {
	switch wait := t.termios.CC[VMIN]; {
	case wait > 0:
		return int(wait)
	case t.termios.CC[VTIME] > 0 && !t.expired:
		return 1
	}
	return 0
}

// startTimer makes a read with VMIN 0 end when VTIME is over. Context: mu held.
func (t *TTY) startTimer() {
	if t.timer != nil || t.termios.CC[VMIN] > 0 {
		return
	}
	t.timer = time.AfterFunc(time.Duration(t.termios.CC[VTIME])*time.Second/10, func() {
		t.expire()
		t.queue.Notify(poll.In)
	})
}

// expire says that VTIME is over.
func (t *TTY) expire() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.expired = t.timer != nil
}

// stopTimer: a read has ended. Context: mu held.
func (t *TTY) stopTimer() {
	if t.timer != nil {
		t.timer.Stop()
	}
	t.timer, t.expired = nil, false
}

// WriteAt implements vfs.Handle.
//
// Errors: EAGAIN while output is stopped or a master reads nothing, EIO when it has hung up.
func (h Handle) WriteAt(p []byte, _ int64) (n int, err error) {
	t := h.TTY
	t.locked(func() poll.Events {
		n = t.allowed(len(p))
		switch {
		case t.hungUp:
			err = syscall.EIO
		case t.stopped || n == 0 && len(p) > 0:
			err = syscall.EAGAIN
		default:
			for _, c := range p[:n] {
				t.put(c)
			}
		}
		return 0
	})
	if err != nil {
		return 0, err
	}
	return n, nil
}

// Close implements vfs.Handle.
func (h Handle) Close() error {
	h.locked(func() poll.Events {
		h.opens--
		return poll.In | poll.Hup // a master hears of the last one
	})
	return nil
}

// Queue implements poll.Source.
func (t *TTY) Queue() *poll.Queue { return &t.queue }

// Poll implements poll.Source.
func (t *TTY) Poll() (ev poll.Events) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.hungUp {
		return poll.In | poll.Hup
	}
	if !t.stopped && t.allowed(1) > 0 {
		ev = poll.Out
	}
	if t.termios.Lflag&ICANON != 0 && len(t.lines) > 0 ||
		t.termios.Lflag&ICANON == 0 && (t.ahead >= max(1, int(t.termios.CC[VMIN])) || t.expired) {
		ev |= poll.In
	}
	return ev
}

// Buffered returns how many bytes can be read, for FIONREAD.
func (t *TTY) Buffered() int { return lock.Get(&t.mu, &t.ahead) }
