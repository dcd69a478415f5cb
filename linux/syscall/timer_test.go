package syscall

import (
	sys "syscall"
	"testing"
	"time"

	"sonde/internal/quick"
	"sonde/kernel/abi"
)

const (
	nGetitimer, nSetitimer, nClockGettime      = 36, 38, 228
	nTimerCreate, nTimerSettime, nTimerGettime = 222, 223, 224
	nTimerGetoverrun, nTimerDelete             = 225, 226
)

// spin uses the CPU until stop returns true.
func spin(p *player, stop func() bool) {
	for end := time.Now().Add(long); !stop() && time.Now().Before(end); {
		for i := 0; i < 100_000; i++ {
			_ = i
		}
		p.Interrupt()
	}
}

func setTimer(p *player, which uint64, value, interval time.Duration) int64 {
	v := abi.Itimerval{Interval: abi.TimevalOf(interval), Value: abi.TimevalOf(value)}
	p.Poke(scratch, abi.Bytes(&v))
	return p.Call(nSetitimer, which, scratch, 0)
}

// TestTimersOfCPUTime: they advance while the program runs, not while it sleeps.
func TestTimersOfCPUTime(t *testing.T) {
	for which, sig := range map[uint64]uint64{abi.ITIMER_VIRTUAL: abi.SIGVTALRM, abi.ITIMER_PROF: abi.SIGPROF} {
		run(t, func(p *player) {
			n := 0
			action(p, sig, func(*player, uint64, uint64, uint64) { n++ }, 0, 0)
			want(t, p, "setitimer", setTimer(p, which, 20*time.Millisecond, 5*time.Millisecond), 0)
			sleep(p, 100*time.Millisecond)
			if n != 0 {
				t.Errorf("%d: it has fired %d times while the program slept", which, n)
			}
			spin(p, func() bool { return n >= 3 })
			if n < 3 {
				t.Errorf("%d: it has fired %d times", which, n)
			}
			want(t, p, "getitimer", p.Call(nGetitimer, which, scratch), 0)
			if interval := p.Peek64(scratch + 8); interval != 5000 {
				t.Errorf("%d: an interval of %d us", which, interval)
			}
			want(t, p, "stop", setTimer(p, which, 0, 0), 0)
			want(t, p, "getitimer", p.Call(nGetitimer, which, scratch), 0)
			want(t, p, "stopped", int64(p.Peek64(scratch+16)+p.Peek64(scratch+24)), 0)
		})
	}
}

func sleep(p *player, d time.Duration) {
	ts := abi.TimespecOf(d)
	p.Poke(scratch+0x800, abi.Bytes(&ts))
	p.Call(nNanosleep, scratch+0x800, 0)
}

const timerID = scratch + 0x100

// create makes a timer and returns its number.
func create(t *testing.T, p *player, clock uint64, e *abi.Sigevent) uint64 {
	t.Helper()
	at := uint64(0)
	if e != nil {
		at = scratch
		p.Poke(at, abi.Bytes(e))
	}
	want(t, p, "timer_create", p.Call(nTimerCreate, clock, at, timerID), 0)
	return uint64(p.Peek32(timerID))
}

func setTime(p *player, id, flags uint64, value, interval time.Duration) int64 {
	v := abi.Itimerspec{Interval: abi.TimespecOf(interval), Value: abi.TimespecOf(value)}
	p.Poke(scratch, abi.Bytes(&v))
	return p.Call(nTimerSettime, id, flags, scratch, 0)
}

// untilFired waits for a timer without an interval.
func untilFired(p *player, id uint64) {
	for end := time.Now().Add(quick.Hang); time.Now().Before(end); sleep(p, time.Millisecond) {
		p.Call(nTimerGettime, id, scratch)
		if p.Peek64(scratch+16)|p.Peek64(scratch+24) == 0 {
			return
		}
	}
}

func TestTimerSendsItsValue(t *testing.T) {
	run(t, func(p *player) {
		var got []abi.Siginfo
		action(p, 40, func(p *player, _, info, _ uint64) { got = append(got, siginfoAt(p, info)) }, abi.SA_SIGINFO, 0)
		create(t, p, abi.CLOCK_MONOTONIC, nil)
		id := create(t, p, abi.CLOCK_MONOTONIC, &abi.Sigevent{Value: 0x1234567890, Signo: 40, Notify: abi.SIGEV_SIGNAL})
		want(t, p, "its number", int64(id), 1)
		want(t, p, "settime", setTime(p, id, 0, 10*time.Millisecond, 0), 0)
		sleep(p, long)
		if len(got) != 1 || got[0].Code != abi.SI_TIMER || got[0].Value() != 0x1234567890 || got[0].Timer() != 1 || got[0].Overrun() != 0 {
			t.Errorf("got %+v", got)
		}
		want(t, p, "gettime", p.Call(nTimerGettime, id, scratch), 0)
		want(t, p, "not set", int64(p.Peek64(scratch+16)|p.Peek64(scratch+24)), 0)
	})
}

// TestTimerOverruns: expiries while the signal is pending are counted, and each is reported once.
func TestTimerOverruns(t *testing.T) {
	run(t, func(p *player) {
		n, most, told := 0, int32(0), time.Duration(0)
		action(p, abi.SIGALRM, func(p *player, _, info, _ uint64) {
			i := siginfoAt(p, info)
			n, most, told = n+1, max(most, i.Overrun()), told+time.Duration(1+i.Overrun())
			if i.Value() != 1 {
				t.Errorf("the value is %d, not the timer's number", i.Value())
			}
		}, abi.SA_SIGINFO, 0)
		create(t, p, abi.CLOCK_REALTIME, nil)
		id := create(t, p, abi.CLOCK_REALTIME, nil)
		p.Poke64(scratch, 1<<(abi.SIGALRM-1))
		p.Call(nSigmask, abi.SIG_BLOCK, scratch, 0, 8)
		start := time.Now()
		setTime(p, id, 0, time.Millisecond, time.Millisecond)
		sleep(p, 20*time.Millisecond)
		want(t, p, "overruns before it was delivered", p.Call(nTimerGetoverrun, id), 0)
		p.Poke64(scratch, 1<<(abi.SIGALRM-1))
		p.Call(nSigmask, abi.SIG_UNBLOCK, scratch, 0, 8)
		for end := time.Now().Add(long); n < 3 && time.Now().Before(end); {
			sleep(p, time.Millisecond)
		}
		setTime(p, id, 0, 0, 0)
		if took := time.Since(start); n < 3 || most < 5 || told > took/time.Millisecond {
			t.Errorf("%d signals with up to %d overruns tell of %d expiries in %v", n, most, told, took)
		}
	})
}

// TestTimerGoesOnWhenItsSignalIsDropped: the timer pauses while its signal is pending, and
// continues when the signal is dropped.
func TestTimerGoesOnWhenItsSignalIsDropped(t *testing.T) {
	run(t, func(p *player) {
		n := 0
		count := func(*player, uint64, uint64, uint64) { n++ }
		action(p, abi.SIGALRM, count, 0, 0)
		id := create(t, p, abi.CLOCK_REALTIME, nil)
		p.Poke64(scratch, 1<<(abi.SIGALRM-1))
		p.Call(nSigmask, abi.SIG_BLOCK, scratch, 0, 8)
		setTime(p, id, 0, time.Millisecond, time.Millisecond)
		sleep(p, 5*time.Millisecond)
		ignore(p, abi.SIGALRM)
		action(p, abi.SIGALRM, count, 0, 0)
		p.Poke64(scratch, 1<<(abi.SIGALRM-1))
		p.Call(nSigmask, abi.SIG_UNBLOCK, scratch, 0, 8)
		for end := time.Now().Add(long); n < 3 && time.Now().Before(end); {
			sleep(p, time.Millisecond)
		}
		if n < 3 {
			t.Errorf("%d signals after one was dropped", n)
		}
	})
}

// TestIntervalTimerIsAsFastAsItsSignals: the same for setitimer, which ended every 100 us at most: nine
// signals took 800 us.
func TestIntervalTimerIsAsFastAsItsSignals(t *testing.T) {
	run(t, func(p *player) {
		var came [9]time.Time
		least := long
		action(p, abi.SIGALRM, func(*player, uint64, uint64, uint64) {
			copy(came[:], came[1:])
			came[8] = time.Now()
			if !came[0].IsZero() {
				least = min(least, came[8].Sub(came[0]))
			}
		}, 0, 0)
		setTimer(p, abi.ITIMER_REAL, 40*time.Microsecond, 40*time.Microsecond)
		for end := time.Now().Add(long); least > 600*time.Microsecond && time.Now().Before(end); {
			p.Interrupt()
		}
		setTimer(p, abi.ITIMER_REAL, 0, 0)
		if least > 600*time.Microsecond {
			t.Errorf("nine signals of a timer of 40 us take %v", least)
		}
	})
}

// TestIntervalTimerGoesOn: a timer of setitimer waits while its signal is blocked and continues when that
// is taken, or dropped.
func TestIntervalTimerGoesOn(t *testing.T) {
	for _, drops := range []bool{false, true} {
		run(t, func(p *player) {
			n := 0
			count := func(*player, uint64, uint64, uint64) { n++ }
			action(p, abi.SIGALRM, count, 0, 0)
			p.Poke64(scratch, 1<<(abi.SIGALRM-1))
			p.Call(nSigmask, abi.SIG_BLOCK, scratch, 0, 8)
			setTimer(p, abi.ITIMER_REAL, time.Millisecond, time.Millisecond)
			sleep(p, 5*time.Millisecond)
			if drops {
				ignore(p, abi.SIGALRM)
				action(p, abi.SIGALRM, count, 0, 0)
			}
			p.Poke64(scratch, 1<<(abi.SIGALRM-1))
			p.Call(nSigmask, abi.SIG_UNBLOCK, scratch, 0, 8)
			for end := time.Now().Add(long); n < 3 && time.Now().Before(end); {
				sleep(p, time.Millisecond)
			}
			if n < 3 {
				t.Errorf("%d signals after one was blocked, dropped: %v", n, drops)
			}
		})
	}
}

// TestTimerIsAsFastAsItsSignals: a timer of 40 us does not miss every other expiry while the
// program takes each signal at once. It used to fire every 100 us at most.
func TestTimerIsAsFastAsItsSignals(t *testing.T) {
	run(t, func(p *player) {
		n, exact := 0, 0
		action(p, abi.SIGALRM, func(p *player, _, info, _ uint64) {
			if i := siginfoAt(p, info); n > 0 && i.Overrun() == 0 {
				exact++
			}
			n++
		}, abi.SA_SIGINFO, 0)
		id := create(t, p, abi.CLOCK_REALTIME, nil)
		setTime(p, id, 0, 40*time.Microsecond, 40*time.Microsecond)
		for end := time.Now().Add(long); exact < 3 && time.Now().Before(end); {
			p.Interrupt()
		}
		setTime(p, id, 0, 0, 0)
		if exact < 3 {
			t.Errorf("of %d signals %d came for one end", n, exact)
		}
	})
}

// TestTimerHasOneSignalPending: a timer that is set again while its signal is pending sends no
// second one, but counts. It used to send one for each setting, up to RLIMIT_SIGPENDING.
func TestTimerHasOneSignalPending(t *testing.T) {
	run(t, func(p *player) {
		n, told := 0, int32(0)
		action(p, 40, func(p *player, _, info, _ uint64) {
			i := siginfoAt(p, info)
			n, told = n+1, i.Overrun()
		}, abi.SA_SIGINFO, 0)
		id := create(t, p, abi.CLOCK_MONOTONIC, &abi.Sigevent{Signo: 40, Notify: abi.SIGEV_SIGNAL})
		p.Poke64(scratch, 1<<(40-1))
		p.Call(nSigmask, abi.SIG_BLOCK, scratch, 0, 8)
		for range 3 {
			setTime(p, id, 0, time.Millisecond, 0)
			untilFired(p, id)
		}
		p.Poke64(scratch, 1<<(40-1))
		p.Call(nSigmask, abi.SIG_UNBLOCK, scratch, 0, 8)
		sleep(p, 10*time.Millisecond)
		if n != 1 || told != 2 {
			t.Errorf("%d signals, the last tells of %d overruns", n, told)
		}
	})
}

func TestTimersOfAbsoluteTimeAndCPU(t *testing.T) {
	run(t, func(p *player) {
		n := 0
		action(p, abi.SIGALRM, func(*player, uint64, uint64, uint64) { n++ }, 0, 0)
		id := create(t, p, abi.CLOCK_REALTIME, nil)
		want(t, p, "a time that is over", setTime(p, id, abi.TIMER_ABSTIME, time.Second, 0), 0)
		sleep(p, long)
		want(t, p, "signals", int64(n), 1)
		p.Call(nClockGettime, abi.CLOCK_MONOTONIC, scratch)
		now := time.Duration(p.Peek64(scratch))*time.Second + time.Duration(p.Peek64(scratch+8))
		id = create(t, p, abi.CLOCK_MONOTONIC, nil)
		want(t, p, "a moment", setTime(p, id, abi.TIMER_ABSTIME, now+100*time.Second, 0), 0)
		p.Call(nTimerGettime, id, scratch)
		if left := p.Peek64(scratch + 16); left < 30 || left > 100 {
			t.Errorf("%d s are left", left)
		}
		self := clockOf(2) | 2
		for _, clock := range []uint64{abi.CLOCK_PROCESS_CPUTIME_ID, abi.CLOCK_THREAD_CPUTIME_ID, self, self | 4} {
			id = create(t, p, clock, nil)
			n = 0
			setTime(p, id, 0, 5*time.Millisecond, 0)
			spin(p, func() bool { return n > 0 })
			want(t, p, "signals", int64(n), 1)
			want(t, p, "clock_gettime", p.Call(nClockGettime, clock, scratch), 0)
			if p.Peek64(scratch)|p.Peek64(scratch+8) == 0 {
				t.Errorf("clock %#x: nothing was used", clock)
			}
		}
	})
}

// TestIntervalsThatAreOverCount: they used to count from the call on.
func TestIntervalsThatAreOverCount(t *testing.T) {
	run(t, func(p *player) {
		var id, first uint64
		n := 0
		action(p, abi.SIGALRM, func(p *player, _, _, _ uint64) {
			if n++; n == 1 {
				first = uint64(p.Call(nTimerGetoverrun, id))
			}
		}, 0, 0)
		p.Call(nClockGettime, abi.CLOCK_MONOTONIC, scratch)
		now := time.Duration(p.Peek64(scratch))*time.Second + time.Duration(p.Peek64(scratch+8))
		for _, tt := range []struct {
			begin, interval time.Duration
			least, most     uint64
		}{
			{now - now/2, now / 8, 4, 40},
			{1, 1, min(uint64(now-1), 1<<31-1), 1<<31 - 1}, // a nanosecond after the boot
		} {
			n, first = 0, 0
			id = create(t, p, abi.CLOCK_MONOTONIC, nil)
			setTime(p, id, abi.TIMER_ABSTIME, tt.begin, tt.interval)
			sleep(p, long)
			if n == 0 || first < tt.least || first > tt.most {
				t.Errorf("%d signals, %d overruns, not %d to %d", n, first, tt.least, tt.most)
			}
			p.Call(nTimerDelete, id)
		}
	})
}

// clockOf is the number of a process's CPU clock, without its lowest bits.
func clockOf(pid int64) uint64 { return uint64(^pid << 3) }

func TestTimersRefuse(t *testing.T) {
	run(t, func(p *player) {
		event := func(e abi.Sigevent) uint64 {
			p.Poke(scratch, abi.Bytes(&e))
			return scratch
		}
		inval := errno(sys.EINVAL)
		want(t, p, "no clock", p.Call(nTimerCreate, 77, 0, timerID), inval)
		want(t, p, "the clock of a file", p.Call(nTimerCreate, clockOf(2)|3, 0, timerID), inval)
		want(t, p, "the clock of nobody", p.Call(nTimerCreate, clockOf(999)|2, 0, timerID), inval)
		want(t, p, "no signal", p.Call(nTimerCreate, 0, event(abi.Sigevent{Signo: 65}), timerID), inval)
		want(t, p, "signal 0", p.Call(nTimerCreate, 0, event(abi.Sigevent{}), timerID), inval)
		want(t, p, "no way to notify", p.Call(nTimerCreate, 0, event(abi.Sigevent{Signo: 1, Notify: 3}), timerID), inval)
		want(t, p, "no thread", p.Call(nTimerCreate, 0, event(abi.Sigevent{Signo: 1, Notify: 4, TID: 77}), timerID), inval)
		want(t, p, "a bad address", p.Call(nTimerCreate, 0, 0, 8), errno(sys.EFAULT))
		want(t, p, "what it made is gone", p.Call(nTimerDelete, 0), inval)
		id := create(t, p, 0, &abi.Sigevent{Notify: abi.SIGEV_NONE})
		want(t, p, "a negative time", setTime(p, id, 0, -1, 0), inval)
		want(t, p, "delete", p.Call(nTimerDelete, id), 0)
		want(t, p, "twice", p.Call(nTimerDelete, id), inval)
		want(t, p, "no itimer", p.Call(nGetitimer, 3, scratch), inval)
		made := 0
		for p.Call(nTimerCreate, 0, 0, timerID) == 0 && made < 10000 {
			made++
		}
		want(t, p, "how many", int64(made), 4096)
	})
}

// TestTimersEnd: exec and the end of a process end its timers; a child inherits none.
func TestTimersEnd(t *testing.T) {
	w := world(t)
	provide(t, w, "/bin/next", func(p *player) {
		want(t, p, "a timer after exec", p.Call(nTimerDelete, 0), errno(sys.EINVAL))
		want(t, p, "setitimer's after exec", p.Call(nGetitimer, abi.ITIMER_REAL, scratch), 0)
		if p.Peek64(scratch+16) == 0 {
			t.Error("exec has stopped the timer of setitimer")
		}
	})
	finish(t, w, begin(t, w, func(p *player) {
		setTime(p, create(t, p, 0, nil), 0, time.Millisecond, time.Millisecond)
		ignore(p, abi.SIGALRM)
		setTimer(p, abi.ITIMER_REAL, 100*time.Second, 0)
		pid := p.Fork(func(c *player) {
			want(t, c, "the parent's timer", c.Call(nTimerDelete, 0), errno(sys.EINVAL))
		}, nFork)
		p.Call(nWait4, uint64(pid), 0, 0, 0)
		p.PokeString(pathAddr, "/bin/next")
		p.Call(nExecve, pathAddr, 0, 0)
	}))
}
