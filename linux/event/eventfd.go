// Package event makes the files with which programs wait for files and for time, and wake each
// other: eventfd, timerfd, inotify and epoll.
package event

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"sync"
	"syscall"

	"sonde/kernel/poll"
	"sonde/kernel/vfs"
)

// counter is an eventfd. It implements vfs.Describer and poll.Source.
type counter struct {
	vfs.Anonymous
	vfs.NoBytes
	semaphore bool
	queue     poll.Queue

	mu sync.Mutex
	// guarded by mu:
	value   uint64
	refused uint64 // the number that a writer waits to add, since the last read
}

// maxValue is the largest value of a counter.
const maxValue = math.MaxUint64 - 1

// NewEventfd returns an open counter: a write adds to it, and a read takes its whole value or, from
// a semaphore, one. flag is O_NONBLOCK or 0.
func NewEventfd(value uint64, semaphore bool, flag int) *vfs.File {
	c := &counter{Anonymous: vfs.NewAnonymous(anonymous), semaphore: semaphore, value: value}
	return vfs.NewFile("anon_inode:[eventfd]", c, c, vfs.O_RDWR|flag&vfs.O_NONBLOCK)
}

// ReadAt implements vfs.Handle.
//
// Errors: EAGAIN while it is 0, EINVAL for less than 8 bytes.
func (c *counter) ReadAt(p []byte, _ int64) (int, error) {
	n, err := readCount(p, c.take)
	if err == nil {
		c.queue.Notify(poll.Out)
	}
	return n, err
}

// readCount reads what take returns.
//
// Errors: EAGAIN it is 0, EINVAL less than 8 bytes were asked for.
func readCount(p []byte, take func() uint64) (int, error) {
	if len(p) < 8 {
		return 0, syscall.EINVAL
	}
	n := take()
	if n == 0 {
		return 0, syscall.EAGAIN
	}
	binary.LittleEndian.PutUint64(p, n)
	return 8, nil
}

func (c *counter) take() uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	got := c.value
	if c.semaphore {
		got = min(got, 1)
	}
	c.value -= got
	c.refused = 0
	return got
}

// Least is the least number of bytes that a write takes.
func (c *counter) Least() int { return 8 }

// WriteAt implements vfs.Handle.
//
// Errors: EAGAIN while the sum would exceed maxValue, EINVAL for less than 8 bytes or the largest
// number.
func (c *counter) WriteAt(p []byte, _ int64) (int, error) {
	if len(p) < 8 {
		return 0, syscall.EINVAL
	}
	add := binary.LittleEndian.Uint64(p)
	if add > maxValue {
		return 0, syscall.EINVAL
	}
	if !c.add(add) {
		return 0, syscall.EAGAIN
	}
	c.queue.Notify(poll.In)
	return 8, nil
}

// add adds n, and reports whether it fitted.
func (c *counter) add(n uint64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if n > maxValue-c.value {
		c.refused = n
		return false
	}
	c.value += n
	return true
}

func (c *counter) Describe(w io.Writer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	fmt.Fprintf(w, "eventfd-count: %16x\n", c.value)
}

func (c *counter) Queue() *poll.Queue { return &c.queue }

// Poll implements poll.Source. Writing is possible if 1 can be added, or the number with which a
// writer waits: that writer tries again after each read.
func (c *counter) Poll() (ev poll.Events) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.value > 0 {
		ev |= poll.In
	}
	if c.value <= maxValue-max(1, c.refused) {
		ev |= poll.Out
	}
	return ev
}
