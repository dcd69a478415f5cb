package event

import (
	"sync/atomic"
	"testing"
	"time"

	"sonde/internal/quick"
	"sonde/kernel/poll"
	"sonde/kernel/vfs"
)

// newTimer returns a timerfd whose clock the test sets.
func newTimer() (f *vfs.File, t *Timer, clock *atomic.Int64) {
	clock = new(atomic.Int64)
	f = NewTimerfd(Clock{Now: func() time.Duration { return time.Duration(clock.Load()) }}, 0)
	return f, f.Handle().(*Timer), clock
}

// waiter joins the queue of f, as poll and epoll do; woken gets a token.
func waiter(f *vfs.File) (woken chan struct{}) {
	woken = make(chan struct{}, 10)
	f.Queue().Add(&poll.Waiter{Mask: poll.In, Wake: func() { woken <- struct{}{} }})
	f.Poll()
	return woken
}

func wake(t *testing.T, what string, woken chan struct{}) {
	t.Helper()
	select {
	case <-woken:
	case <-time.After(quick.Hang):
		t.Errorf("%s: not woken", what)
	}
}

// TestTimersRunOnlyForWaiters: reading a timerfd of short intervals used to start a goroutine for
// each reading, which cost three times as much as the reading.
func TestTimersRunOnlyForWaiters(t *testing.T) {
	f, timer, clock := newTimer()
	started := func() uint64 {
		timer.mu.Lock()
		defer timer.mu.Unlock()
		return timer.waits
	}
	timer.Set(10, 10, false, 0)
	for i := range 5 {
		clock.Add(25)
		if n, err := read(f); n == 0 || err != nil || started() != 0 {
			t.Errorf("reading %d: %d, %v; %d timers", i, n, err, started())
		}
	}
	if f.Poll() != 0 || started() != 0 {
		t.Errorf("a look that does not wait: %v, %d timers", f.Poll(), started())
	}
	woken := waiter(f)
	first := started()
	if first == 0 {
		t.Error("no timer, though somebody waits")
	}
	wake(t, "who waits", woken)
	clock.Add(10)
	if n, _ := read(f); n != 1 || started() == first {
		t.Errorf("%d; no timer, though somebody waits again", n)
	}
	wake(t, "who still waits", woken)
}

// TestTimerWakesWhoWaitsThoughOthersLook: that somebody sees the end before the timer has told of it
// is no reason not to tell.
func TestTimerWakesWhoWaitsThoughOthersLook(t *testing.T) {
	f, timer, clock := newTimer()
	timer.Set(50*time.Millisecond, 0, false, 0)
	woken := waiter(f)
	clock.Store(int64(time.Second))
	if f.Poll() != poll.In {
		t.Error("the end has not come")
	}
	if v, _ := timer.Left(); v != 0 {
		t.Errorf("%v left", v)
	}
	wake(t, "who waits", woken)
	if n, err := read(f); n != 1 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
}

// TestTimerReadBeforeItsEndIsTold: the timer that was to tell of an end that has been read does not
// end the next interval.
func TestTimerReadBeforeItsEndIsTold(t *testing.T) {
	f, timer, clock := newTimer()
	timer.Set(20*time.Millisecond, time.Hour, false, 0)
	waiter(f)
	clock.Store(int64(30 * time.Millisecond))
	if n, err := read(f); n != 1 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	time.Sleep(100 * time.Millisecond)
	if f.Poll() != 0 {
		t.Error("the next interval has ended")
	}
}
