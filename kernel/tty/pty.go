package tty

import (
	"sync"
	"sync/atomic"
	"syscall"

	"sonde/kernel/lock"
	"sonde/kernel/poll"
	"sonde/kernel/vfs"
)

// How many bytes a pseudo-terminal holds on its way from programs to the master. A byte
// that a program writes becomes up to eight. Writers wait while less than leastRoom is
// free; echo goes up to twice that far, and is lost then.
const (
	mostOutput = 64 << 10
	expansion  = 8
	leastRoom  = 4 << 10
	leastInput = 1 << 10 // what must be free before poll tells the master of room

	mostShown    = 8 << 20       // of all pseudo-terminals together; beyond that,
	scarceOutput = 2 * leastRoom // each holds only that much
)

// shownAll is how many bytes all pseudo-terminals hold.
var shownAll atomic.Int64

// Master is the end of a pseudo-terminal at which a program plays the device: it reads
// what the terminal shows, and what it writes is typed. The other end, the slave, is a
// terminal like any other.
type Master struct {
	vfs.Stream
	*TTY
	Number int // of /dev/pts/N
	all    *ptys

	typing sync.Mutex // held by one who types

	mu sync.Mutex
	// guarded by mu:
	output []byte // shown, and not read
	closed bool
}

// A slave is a terminal that behaves as Linux makes one.
func newMaster(all *ptys, signal func(group int, s Signal)) *Master {
	m := &Master{all: all}
	t := New(screen{m}, signal)
	t.termios.Iflag &^= IUTF8
	t.termios.Cflag = 0x00bf
	t.size = Winsize{}
	t.master, t.isLocked = m, true
	m.TTY = t
	return m
}

// screen is where the slave shows its output. It implements io.Writer.
type screen struct{ *Master }

func (s screen) Write(p []byte) (int, error) {
	s.keep(p)
	s.queue.Notify(poll.In)
	return len(p), nil
}

func (m *Master) keep(p []byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return
	}
	n := min(len(p), max(0, 2*limit()-len(m.output)))
	m.output = append(m.output, p[:n]...)
	shownAll.Add(int64(n))
}

// limit is how many bytes a pseudo-terminal holds now, echo aside.
func limit() int {
	if shownAll.Load() > mostShown {
		return scarceOutput
	}
	return mostOutput
}

// room is how many bytes more the slave may show.
func (m *Master) room() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return limit() - len(m.output)
}

// allowed is how many of n bytes a program may write now. Context: t.mu held.
func (t *TTY) allowed(n int) int {
	if t.master == nil {
		return n
	}
	room := t.master.room() - len(t.pending)
	if room < leastRoom {
		return 0
	}
	return min(n, room/expansion)
}

// typeable is how many bytes can be typed before some are lost. While a line is typed and
// none waits, all can: none could make room. Context: t.mu held.
func (t *TTY) typeable() int {
	if t.hungUp || t.termios.Lflag&ICANON != 0 && len(t.lines) == 0 {
		return maxAhead
	}
	return max(0, maxAhead-t.ahead)
}

// gone reports whether nothing has the slave open any more. One that hung up, when the
// leader of its session ended, counts as open until it is closed, as in Linux: script keeps
// the slave open, and polls the master until a poll finds nothing. Context: t.mu held.
func (t *TTY) gone() bool { return t.used && t.opens == 0 }

// ReadAt implements vfs.Handle.
//
// Errors: EAGAIN when there is nothing, EIO when the slave is closed, too.
func (m *Master) ReadAt(p []byte, _ int64) (int, error) {
	if n := m.shown(p); n > 0 {
		m.queue.Notify(poll.Out)
		return n, nil
	}
	m.TTY.mu.Lock()
	defer m.TTY.mu.Unlock()
	if m.gone() && m.Buffered() == 0 {
		return 0, syscall.EIO
	}
	return 0, syscall.EAGAIN
}

// shown takes what the slave has shown.
func (m *Master) shown(p []byte) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := copy(p, m.output)
	shownAll.Add(-int64(n))
	if m.output = m.output[n:]; len(m.output) == 0 {
		m.output = nil
	}
	return n
}

// WriteAt implements vfs.Handle: it types.
//
// Errors: EAGAIN while too much was typed that has not been read.
func (m *Master) WriteAt(p []byte, _ int64) (int, error) {
	m.typing.Lock()
	defer m.typing.Unlock()
	n := min(len(p), m.inputRoom())
	if n == 0 && len(p) > 0 {
		return 0, syscall.EAGAIN
	}
	m.Input(p[:n])
	return n, nil
}

func (m *Master) inputRoom() int {
	m.TTY.mu.Lock()
	defer m.TTY.mu.Unlock()
	return m.typeable()
}

// Poll implements poll.Source.
func (m *Master) Poll() (ev poll.Events) {
	m.TTY.mu.Lock()
	defer m.TTY.mu.Unlock()
	if m.Buffered() > 0 {
		ev |= poll.In
	}
	if m.typeable() >= leastInput {
		ev |= poll.Out
	}
	if m.gone() {
		ev |= poll.Hup
	}
	return ev
}

// Buffered returns how many bytes can be read, for FIONREAD.
func (m *Master) Buffered() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.output)
}

// SetLock locks the slave, which cannot be opened then, or unlocks it.
func (m *Master) SetLock(on bool) { lock.Set(&m.TTY.mu, &m.isLocked, on) }

// IsLocked reports whether the slave is locked. It is at first.
func (m *Master) IsLocked() bool { return lock.Get(&m.TTY.mu, &m.isLocked) }

// Close implements vfs.Handle: the slave hangs up, its name is gone, and it controls no
// session any more.
func (m *Master) Close() error {
	m.all.remove(m)
	m.hangUp(m.all.leave)
	m.drop()
	return nil
}

// drop forgets what was shown, and all that will be.
func (m *Master) drop() {
	m.mu.Lock()
	defer m.mu.Unlock()
	shownAll.Add(-int64(len(m.output)))
	m.output, m.closed = nil, true
}
