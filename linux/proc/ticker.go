package proc

import (
	"runtime"
	"time"
)

// ticker calls a function after a time, and then at intervals. Its clock may stand still:
// CPU time does while the process does not run. Then it checks from time to time, less
// often the longer nothing has changed.
//
// Guarded by Table.mu, as is what it calls.
type ticker struct {
	clock    func() time.Duration
	cpu      bool          // the clock may stand still
	end      time.Duration // on the clock
	interval time.Duration
	// fire is told how often it would have fired by now, at least 1. It reports whether k is
	// to be held at its interval: until release, it tells of nothing and needs no time.
	fire func(times int) (hold bool)

	timer *time.Timer // nil: not set
	held  bool
	seen  time.Duration
	delay time.Duration
}

// How long a ticker waits before it checks again.
const (
	// leastDelay is between two ends that need no answer of the program, so that it cannot keep
	// the kernel busy. What sends a signal is held until the program takes that.
	leastDelay   = 100 * time.Microsecond
	leastCPUTime = time.Millisecond // the time that a program has used is known no better
	mostIdle     = 50 * time.Millisecond
)

// set makes k fire after value, and then at intervals; 0 means never. A negative value is a time that
// is over: k fires at once, and tells of all the intervals since. mu held.
func (k *ticker) set(t *Table, value, interval time.Duration) {
	k.stop()
	if value == 0 {
		return
	}
	k.seen = k.clock()
	k.interval, k.delay, k.held = interval, 0, false
	if k.end = k.seen + value; value > 0 && k.end < k.seen {
		k.end = 1<<63 - 1
	}
	var timer *time.Timer
	timer = time.AfterFunc(k.wait(k.seen), func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		if k.timer == timer { // it has not been set again meanwhile
			k.look()
		}
	})
	k.timer = timer
}

func (k *ticker) stop() {
	if k.timer != nil {
		k.timer.Stop()
		k.timer = nil
	}
}

// left returns the time until k fires, and the interval after that. For a ticker that is
// set it never returns 0, which would mean never. mu held.
func (k *ticker) left() (value, interval time.Duration) {
	if k == nil || k.timer == nil {
		return 0, 0
	}
	left := k.end - k.clock()
	if k.held && left < 0 {
		left = k.interval + left%k.interval
	}
	return max(left, time.Microsecond), k.interval
}

// release ends a hold, and returns how often k would have fired since. mu held.
func (k *ticker) release() (times int) {
	if !k.held || k.timer == nil {
		return 0
	}
	now := k.clock()
	k.held = false
	times = k.pass(now)
	k.timer.Reset(k.wait(now))
	return times
}

// pass moves the end after now, and returns how many ends were before.
func (k *ticker) pass(now time.Duration) (times int) {
	if now < k.end {
		return 0
	}
	times = 1
	if k.interval > 0 {
		times += int((now - k.end) / k.interval)
		k.end += time.Duration(times) * k.interval
	}
	return times
}

// wait returns how long to sleep before checking again.
func (k *ticker) wait(now time.Duration) time.Duration {
	left := k.end - now
	if !k.cpu {
		return left
	}
	left = max(left/time.Duration(runtime.GOMAXPROCS(0)), leastCPUTime)
	if now == k.seen {
		left = max(left, min(2*k.delay, mostIdle))
	}
	k.seen, k.delay = now, left
	return left
}

// look fires if it is time, and sleeps again. mu held.
func (k *ticker) look() {
	now := k.clock()
	times := k.pass(now)
	if times > 0 && k.interval == 0 {
		k.timer = nil
	}
	if times > 0 && k.fire(times) && k.interval > 0 {
		k.held = true
	} else if k.timer != nil {
		k.timer.Reset(max(k.wait(now), leastDelay))
	}
}

var epoch = time.Now()

// wallTime is a clock that does not stand still.
func wallTime() time.Duration { return time.Since(epoch) }
