package event

import (
	"fmt"
	"io"
	"sync"
	"time"

	"sonde/kernel/poll"
	"sonde/kernel/vfs"
)

// Clock is the clock of a timer: its number for programs, and a function that reads it.
type Clock struct {
	Number int
	Now    func() time.Duration
}

// Timer is a timerfd. Its ends are computed. Only while somebody waits for one does a timer of the
// kernel run, and for later ends of an interval only once the first is read: so no program can keep
// the kernel busy with short intervals.
type Timer struct {
	vfs.Anonymous
	vfs.NoBytes
	clock Clock
	queue poll.Queue

	mu sync.Mutex
	// guarded by mu:
	wait     *time.Timer   // nil: nothing waits, or it is not set, or ended and not read yet
	waits    uint64        // how often it has begun or stopped waiting
	end      time.Duration // on the clock; counts while armed
	armed    bool
	ended    bool          // end has passed: see look
	interval time.Duration // 0: it ends once
	flags    int           // of the last setting, shown to people
	closed   bool
}

// NewTimerfd returns an open timer that is not set. flag is O_NONBLOCK or 0.
func NewTimerfd(c Clock, flag int) *vfs.File {
	t := &Timer{Anonymous: vfs.NewAnonymous(anonymous), clock: c}
	return vfs.NewFile("anon_inode:[timerfd]", t, t, vfs.O_RDWR|flag&vfs.O_NONBLOCK)
}

// Set makes the timer expire after value or, with absolute, when the clock shows value, and then at
// intervals. A value of 0 stops it. flags are shown to people. Set returns the previous result of
// Left.
func (t *Timer) Set(value, interval time.Duration, absolute bool, flags int) (oldValue, oldInterval time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.look()
	oldValue, oldInterval = t.left(now), t.interval
	t.stop()
	t.interval, t.flags, t.ended = interval, flags, false
	t.armed = value > 0 && !t.closed
	if !t.armed {
		return oldValue, oldInterval
	}
	t.end = value
	if !absolute {
		t.end = later(now, value)
	}
	t.sleep(now)
	return oldValue, oldInterval
}

// look notices that the end has passed, and returns the time. Others that wait are woken all the
// same, by sleep. Context: mu held.
func (t *Timer) look() time.Duration {
	now := t.clock.Now()
	t.ended = t.ended || t.armed && now >= t.end
	return now
}

// later is now plus d, or the largest value if that overflows.
func later(now, d time.Duration) time.Duration {
	if now+d < now {
		return 1<<63 - 1
	}
	return now + d
}

// sleep starts waiting for the end, if somebody else waits for it. Context: mu held.
func (t *Timer) sleep(now time.Duration) {
	if t.wait != nil || !t.queue.Waited() {
		return
	}
	t.waits++
	which := t.waits
	t.wait = time.AfterFunc(max(t.end-now, 0), func() {
		if t.expire(which) {
			t.queue.Notify(poll.In)
		}
	})
}

// expire records the end, if the timer still waits for that one.
func (t *Timer) expire(which uint64) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.waits != which {
		return false
	}
	t.wait, t.ended = nil, true
	return true
}

// stop ends the waiting. Context: mu held.
func (t *Timer) stop() {
	if t.wait != nil {
		t.wait.Stop()
		t.wait = nil
		t.waits++
	}
}

// left is the time until the next expiry, 0 for never. now is of look. Context: mu held.
func (t *Timer) left(now time.Duration) time.Duration {
	switch {
	case !t.armed:
		return 0
	case t.end > now:
		return t.end - now
	case t.interval > 0:
		return t.interval - (now-t.end)%t.interval
	}
	return 0
}

// Left returns the time until the next expiry, and the interval.
func (t *Timer) Left() (value, interval time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.left(t.look()), t.interval
}

// ReadAt implements vfs.Handle: it returns how often the timer has expired since it was last read
// or set.
//
// Errors: EAGAIN if it has not, EINVAL for less than 8 bytes.
func (t *Timer) ReadAt(p []byte, _ int64) (int, error) { return readCount(p, t.take) }

func (t *Timer) take() uint64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.look()
	if !t.ended {
		return 0
	}
	n := t.ticks(now)
	t.stop() // nothing else can read what is taken here
	t.ended = false
	if t.interval == 0 {
		t.armed = false
		return n
	}
	t.end = later(t.end, time.Duration(n)*t.interval)
	t.sleep(now)
	return n
}

// ticks is how often the timer has expired. Context: mu held.
func (t *Timer) ticks(now time.Duration) uint64 {
	switch {
	case !t.ended:
		return 0
	case t.interval == 0 || now < t.end:
		return 1
	}
	return 1 + uint64((now-t.end)/t.interval)
}

// Queue implements poll.Source.
func (t *Timer) Queue() *poll.Queue { return &t.queue }

// Poll implements poll.Source. If the timer is closed, waiters get an error.
func (t *Timer) Poll() poll.Events {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.look()
	switch {
	case t.closed:
		return poll.Err
	case t.ended:
		return poll.In
	case t.armed:
		t.sleep(now)
	}
	return 0
}

// Close implements vfs.Handle.
func (t *Timer) Close() error {
	t.finish()
	t.queue.Notify(poll.Err)
	return nil
}

// finish stops the timer for ever.
func (t *Timer) finish() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.stop()
	t.closed, t.armed = true, false
}

// Describe implements vfs.Describer.
func (t *Timer) Describe(w io.Writer) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.look()
	left := t.left(now)
	if t.ended {
		left = 0
	}
	fmt.Fprintf(w, "clockid: %d\nticks: %d\nsettime flags: 0%o\n", t.clock.Number, t.ticks(now), t.flags)
	fmt.Fprintf(w, "it_value: (%d, %d)\nit_interval: (%d, %d)\n", left/time.Second, left%time.Second,
		t.interval/time.Second, t.interval%time.Second)
}
