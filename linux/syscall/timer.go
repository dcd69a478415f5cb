package syscall

import (
	sys "syscall"
	"time"

	"sonde/kernel/abi"
	"sonde/linux/proc"
)

func alarm(t *proc.Thread, a *Args) (uint64, error) {
	left, _ := t.Process().SetTimer(abi.ITIMER_REAL, time.Duration(uint32(a[0]))*time.Second, 0)
	return uint64((left + time.Second/2) / time.Second), nil
}

func getitimer(t *proc.Thread, a *Args) (uint64, error) {
	if uint32(a[0]) > abi.ITIMER_PROF {
		return 0, sys.EINVAL
	}
	return done(put(t, a[1], itimerval(t.Process().TimerLeft(asInt(a[0])))))
}

func setitimer(t *proc.Thread, a *Args) (uint64, error) {
	if uint32(a[0]) > abi.ITIMER_PROF {
		return 0, sys.EINVAL
	}
	v, _, err := getIf[abi.Itimerval](t, a[1])
	switch {
	case err != nil:
		return 0, err
	case !v.Value.Valid() || !v.Interval.Valid():
		return 0, sys.EINVAL
	}
	old := itimerval(t.Process().SetTimer(asInt(a[0]), v.Value.Duration(), v.Interval.Duration()))
	return done(putIf(t, a[2], old))
}

func itimerval(value, interval time.Duration) abi.Itimerval {
	return abi.Itimerval{Interval: abi.TimevalOf(interval), Value: abi.TimevalOf(value)}
}

// usedTime is a clock of the CPU time of a process, or of one of its threads.
type usedTime struct {
	process *proc.Process
	thread  *proc.Thread // nil: all threads
	user    bool         // without the time in the kernel
}

func (c usedTime) now() time.Duration {
	var u proc.Usage
	if c.thread != nil {
		u = c.thread.Usage()
	} else {
		u, _ = c.process.Usage()
	}
	if c.user {
		return u.User
	}
	return u.CPU()
}

// cpuClock decodes the number of a process's or thread's clock: bits 0 and 1 say which time counts,
// bit 2 that it is a thread; the rest is the inverted id, 0 for the caller.
//
// Source: Linux, clock_getcpuclockid(3) as implemented by glibc and the kernel.
//
// Errors: EINVAL for an id that does not exist.
func cpuClock(t *proc.Thread, clock int) (c usedTime, err error) {
	id, kind := ^(clock >> 3), clock&3
	if kind == 3 {
		return c, sys.EINVAL
	}
	c.process, c.user = t.Process(), kind == 1
	switch {
	case clock&4 != 0 && id == 0:
		c.thread = t
	case clock&4 != 0:
		c.thread, err = t.Process().Table().FindThread(t.Process().PID, id)
	case id != 0:
		c.process, err = t.Process().Table().Find(id)
	}
	if err != nil || c.process == t.Process().Table().Init() {
		return c, sys.EINVAL
	}
	return c, nil
}

// specOf decodes the clock of a timer.
//
// Errors: EINVAL.
func specOf(t *proc.Thread, clock int) (s proc.TimerSpec, err error) {
	switch clock {
	case abi.CLOCK_REALTIME, abi.CLOCK_MONOTONIC, abi.CLOCK_BOOTTIME:
		return s, nil
	case abi.CLOCK_PROCESS_CPUTIME_ID:
		s.CPU = t.Process().CPUTime(nil)
		return s, nil
	case abi.CLOCK_THREAD_CPUTIME_ID:
		s.CPU = t.Process().CPUTime(t)
		return s, nil
	}
	if clock >= 0 {
		return s, sys.EINVAL
	}
	c, err := cpuClock(t, clock)
	if err == nil && c.process != t.Process() {
		err = sys.EINVAL
	}
	s.CPU = t.Process().CPUTime(c.thread)
	return s, err
}

func timerCreate(t *proc.Thread, a *Args) (uint64, error) {
	s, err := specOf(t, asInt(a[0]))
	if err != nil {
		return 0, err
	}
	e, given, err := getIf[abi.Sigevent](t, a[1])
	switch {
	case err != nil:
		return 0, err
	case !given:
		s.Signal, s.UseID = abi.SIGALRM, true
	case e.Notify == abi.SIGEV_SIGNAL, e.Notify == abi.SIGEV_THREAD, e.Notify == abi.SIGEV_SIGNAL|abi.SIGEV_THREAD_ID:
		s.Signal, s.Value = int(e.Signo), e.Value
		toThread := e.Notify&abi.SIGEV_THREAD_ID != 0
		if toThread {
			s.TID = int(e.TID)
		}
		if s.Signal == 0 || s.TID == 0 && toThread {
			return 0, sys.EINVAL
		}
	case e.Notify != abi.SIGEV_NONE:
		return 0, sys.EINVAL
	}
	timer, err := t.Process().NewTimer(s)
	if err != nil {
		return 0, err
	}
	clock := asInt(a[0])
	timer.Clock = func() (time.Duration, error) {
		now, err := nowOf(t, clock)
		return now.Duration(), err
	}
	if err := put(t, a[2], int32(timer.ID)); err != nil {
		timer.Delete()
		return 0, err
	}
	return 0, nil
}

func timerSettime(t *proc.Thread, a *Args) (uint64, error) {
	if a[2] == 0 {
		return 0, sys.EINVAL
	}
	v, err := get[abi.Itimerspec](t, a[2])
	if err != nil {
		return 0, err
	}
	timer, err := timerOf(t, a[0])
	switch {
	case err != nil:
		return 0, err
	case !v.Value.Valid() || !v.Interval.Valid():
		return 0, sys.EINVAL
	}
	value := v.Value.Duration()
	if value > 0 && a[1]&abi.TIMER_ABSTIME != 0 {
		now, err := timer.Clock()
		if err != nil {
			return 0, err
		}
		if value -= now; value == 0 {
			value = -1 // now, and not never
		}
	}
	old := itimerspec(timer.Set(value, v.Interval.Duration()))
	return done(putIf(t, a[3], old))
}

func itimerspec(value, interval time.Duration) abi.Itimerspec {
	return abi.Itimerspec{Interval: abi.TimespecOf(interval), Value: abi.TimespecOf(value)}
}

// timerOf returns the timer with a number.
//
// Errors: EINVAL.
func timerOf(t *proc.Thread, id uint64) (*proc.Timer, error) { return t.Process().Timer(asInt(id)) }

func timerGettime(t *proc.Thread, timer *proc.Timer, a *Args) (uint64, error) {
	return done(put(t, a[1], itimerspec(timer.Left())))
}

func timerGetoverrun(_ *proc.Thread, timer *proc.Timer, _ *Args) (uint64, error) {
	return uint64(timer.Overrun()), nil
}

func timerDelete(_ *proc.Thread, timer *proc.Timer, _ *Args) (uint64, error) {
	timer.Delete()
	return 0, nil
}
