package syscall

import (
	sys "syscall"
	"testing"
	"time"

	"sonde/kernel/abi"
)

const nTimerfdCreate, nTimerfdSettime, nTimerfdGettime = 283, 286, 287

// newTimerfd makes a timerfd.
func newTimerfd(t *testing.T, p *player, clock, flags uint64) uint64 {
	t.Helper()
	fd := p.Call(nTimerfdCreate, clock, flags)
	if fd < 0 {
		t.Fatalf("timerfd_create: %d", fd)
	}
	return uint64(fd)
}

// setTimerfd sets it; the previous setting is at scratch+32.
func setTimerfd(p *player, fd, flags uint64, value, interval time.Duration) int64 {
	v := abi.Itimerspec{Interval: abi.TimespecOf(interval), Value: abi.TimespecOf(value)}
	p.Poke(scratch, abi.Bytes(&v))
	return p.Call(nTimerfdSettime, fd, flags, scratch, scratch+32)
}

func specAt(p *player, addr uint64) (value, interval time.Duration) {
	var v abi.Itimerspec
	copy(abi.Bytes(&v), p.Peek(addr, 32))
	return v.Value.Duration(), v.Interval.Duration()
}

// ready polls until it is readable, for at most that many milliseconds.
func ready(p *player, fd uint64, ms uint64) int64 {
	p.Poke(scratch, abi.Bytes(&abi.PollFD{FD: int32(fd), Events: abi.POLLIN}))
	return p.Call(nPoll, scratch, 1, ms)
}

func TestTimerfdCountsItsEnds(t *testing.T) {
	run(t, func(p *player) {
		fd := newTimerfd(t, p, abi.CLOCK_MONOTONIC, abi.O_NONBLOCK)
		want(t, p, "not set", p.Call(nRead, fd, scratch, 8), errno(sys.EAGAIN))
		want(t, p, "set once", setTimerfd(p, fd, 0, time.Millisecond, 0), 0)
		want(t, p, "poll", ready(p, fd, minus), 1)
		want(t, p, "read", p.Call(nRead, fd, scratch, 8), 8)
		want(t, p, "ends", int64(p.Peek64(scratch)), 1)
		want(t, p, "read again", p.Call(nRead, fd, scratch, 8), errno(sys.EAGAIN))
		want(t, p, "gettime", p.Call(nTimerfdGettime, fd, scratch), 0)
		if v, i := specAt(p, scratch); v != 0 || i != 0 {
			t.Errorf("after the only end: %v, %v", v, i)
		}
		want(t, p, "set at intervals", setTimerfd(p, fd, 0, time.Millisecond, time.Millisecond), 0)
		sleep(p, 20*time.Millisecond)
		want(t, p, "read", p.Call(nRead, fd, scratch, 8), 8)
		if n := p.Peek64(scratch); n < 15 {
			t.Errorf("%d ends in 20 ms", n)
		}
		want(t, p, "it goes on", ready(p, fd, minus), 1)
		want(t, p, "stop", setTimerfd(p, fd, 0, 0, 0), 0)
		if v, i := specAt(p, scratch+32); v <= 0 || v > time.Millisecond || i != time.Millisecond {
			t.Errorf("it was set to %v, %v", v, i)
		}
		want(t, p, "what had ended is forgotten", p.Call(nRead, fd, scratch, 8), errno(sys.EAGAIN))
	})
}

// TestTimerfdShortIntervals: intervals that nobody reads cost no time, and none is lost.
func TestTimerfdShortIntervals(t *testing.T) {
	run(t, func(p *player) {
		fd := newTimerfd(t, p, abi.CLOCK_MONOTONIC, 0)
		begin := time.Now()
		setTimerfd(p, fd, 0, 1, 1)
		sleep(p, 5*time.Millisecond)
		want(t, p, "read", p.Call(nRead, fd, scratch, 8), 8)
		if n := time.Duration(p.Peek64(scratch)); n < 5*time.Millisecond || n > time.Since(begin) {
			t.Errorf("%d ends of a nanosecond", n)
		}
	})
}

func TestTimerfdAbsolute(t *testing.T) {
	run(t, func(p *player) {
		fd := newTimerfd(t, p, abi.CLOCK_REALTIME, abi.O_NONBLOCK)
		now := time.Duration(time.Now().UnixNano())
		const both = abi.TFD_TIMER_ABSTIME | abi.TFD_TIMER_CANCEL_ON_SET
		want(t, p, "set", setTimerfd(p, fd, both, now-3*time.Hour-30*time.Minute, time.Hour), 0)
		want(t, p, "poll", ready(p, fd, minus), 1)
		want(t, p, "read", p.Call(nRead, fd, scratch, 8), 8)
		want(t, p, "those that are over", int64(p.Peek64(scratch)), 4)
		want(t, p, "gettime", p.Call(nTimerfdGettime, fd, scratch), 0)
		if v, i := specAt(p, scratch); v < 20*time.Minute || v > 30*time.Minute || i != time.Hour {
			t.Errorf("left: %v, %v", v, i)
		}
		want(t, p, "far away", setTimerfd(p, fd, both, 1<<62, 1<<62), 0)
		want(t, p, "poll", ready(p, fd, 0), 0)
	})
}

func TestTimerfdRefuses(t *testing.T) {
	run(t, func(p *player) {
		inval := errno(sys.EINVAL)
		want(t, p, "CPU time", p.Call(nTimerfdCreate, abi.CLOCK_PROCESS_CPUTIME_ID, 0), inval)
		want(t, p, "no clock", p.Call(nTimerfdCreate, 99, 0), inval)
		want(t, p, "flags", p.Call(nTimerfdCreate, 0, 1), inval)
		fd := newTimerfd(t, p, abi.CLOCK_BOOTTIME, 0)
		want(t, p, "flags", setTimerfd(p, fd, 4, 1, 0), inval)
		want(t, p, "a negative time", setTimerfd(p, fd, 0, -1, 0), inval)
		want(t, p, "no address", p.Call(nTimerfdSettime, fd, 0, 8, 0), errno(sys.EFAULT))
		want(t, p, "no file", p.Call(nTimerfdGettime, 99, scratch), errno(sys.EBADF))
		want(t, p, "to no address", p.Call(nTimerfdGettime, fd, 8), errno(sys.EFAULT))
		p.Call(nPipe, scratch)
		want(t, p, "a pipe", setTimerfd(p, uint64(p.Peek32(scratch)), 0, 1, 0), inval)
		want(t, p, "a short reading", p.Call(nRead, fd, scratch, 7), inval)
		want(t, p, "writing", p.Call(nWrite, fd, scratch, 8), inval)
		want(t, p, "seeking", p.Call(nPread, fd, scratch, 8, 0), errno(sys.ESPIPE))
	})
}

// TestTimerfdIsSharedAfterFork: a waiting child sees what its parent sets.
func TestTimerfdIsSharedAfterFork(t *testing.T) {
	run(t, func(p *player) {
		fd := newTimerfd(t, p, abi.CLOCK_MONOTONIC, 0)
		child := p.Fork(func(c *player) {
			want(t, c, "read", c.Call(nRead, fd, scratch, 8), 8)
			c.Call(nExitGroup, c.Peek64(scratch))
		}, nFork)
		setTimerfd(p, fd, 0, 5*time.Millisecond, 0)
		want(t, p, "wait", p.Call(nWait4, uint64(child), scratch, 0, 0), child)
		want(t, p, "ends", int64(p.Peek32(scratch)>>8), 1)
		killed := p.Fork(func(c *player) { c.Call(nRead, fd, scratch, 8) }, nFork)
		p.Call(nKill, uint64(killed), abi.SIGKILL)
		want(t, p, "one that waits is killed", p.Call(nWait4, uint64(killed), scratch, 0, 0), killed)
	})
}

// TestTimerfdIsClosedWhileAThreadWaits: the thread is woken.
func TestTimerfdIsClosedWhileAThreadWaits(t *testing.T) {
	run(t, func(p *player) {
		fd := newTimerfd(t, p, abi.CLOCK_MONOTONIC, 0)
		p.Poke32(scratch+64, 1)
		thread(p, func(c *player) {
			want(t, c, "read", c.Call(nRead, fd, scratch, 8), errno(sys.EBADF))
		}, scratch+64)
		sleep(p, 5*time.Millisecond)
		want(t, p, "close", p.Call(nClose, fd), 0)
		joined(t, p, scratch+64)
	})
}
