package syscall

import (
	"runtime"
	sys "syscall"
	"time"

	"sonde/kernel/abi"
	"sonde/linux/proc"
)

// Uptime is CLOCK_MONOTONIC: the time since the machine started. Set once at boot.
var Uptime = func() time.Duration { return time.Since(loaded) }

var loaded = time.Now()

// Yield lets other goroutines run. Set once at boot.
var Yield = runtime.Gosched

// GiveWay lets the goroutine run that the caller has woken. Set once at boot.
var GiveWay = func() {}

// nowOf reads a clock.
//
// Errors: EINVAL.
func nowOf(t *proc.Thread, clock int) (abi.Timespec, error) {
	switch clock {
	case abi.CLOCK_REALTIME, abi.CLOCK_REALTIME_COARSE:
		return timespec(time.Now()), nil
	case abi.CLOCK_MONOTONIC, abi.CLOCK_MONOTONIC_RAW, abi.CLOCK_MONOTONIC_COARSE, abi.CLOCK_BOOTTIME:
		return abi.TimespecOf(Uptime()), nil
	case abi.CLOCK_PROCESS_CPUTIME_ID:
		u, _ := t.Process().Usage()
		return abi.TimespecOf(u.CPU()), nil
	case abi.CLOCK_THREAD_CPUTIME_ID:
		return abi.TimespecOf(t.Usage().CPU()), nil
	}
	if clock < 0 {
		cpu, err := cpuClock(t, clock)
		if err != nil {
			return abi.Timespec{}, err
		}
		return abi.TimespecOf(cpu.now()), nil
	}
	return abi.Timespec{}, sys.EINVAL
}

func clockGettime(t *proc.Thread, a *Args) (uint64, error) {
	ts, err := nowOf(t, asInt(a[0]))
	if err != nil {
		return 0, err
	}
	return done(put(t, a[1], ts))
}

func clockGetres(t *proc.Thread, a *Args) (uint64, error) {
	if _, err := nowOf(t, asInt(a[0])); err != nil {
		return 0, err
	}
	return done(putIf(t, a[1], abi.Timespec{Nsec: 1}))
}

func gettimeofday(t *proc.Thread, a *Args) (uint64, error) {
	now := time.Now()
	if err := putIf(t, a[0], abi.Timeval{Sec: now.Unix(), Usec: int64(now.Nanosecond() / 1000)}); err != nil {
		return 0, err
	}
	return done(putIf(t, a[1], [2]int32{}))
}

func timeCall(t *proc.Thread, a *Args) (uint64, error) {
	now := time.Now().Unix()
	return uint64(now), putIf(t, a[0], now)
}

func times(t *proc.Thread, a *Args) (uint64, error) {
	self, children := t.Process().Usage()
	var tms abi.Tms
	tms.User, tms.System = self.Ticks()
	tms.ChildUser, tms.ChildSystem = children.Ticks()
	ticks := Uptime() / (time.Second / abi.TicksPerSecond)
	return uint64(ticks), putIf(t, a[0], tms)
}

func nanosleep(t *proc.Thread, d abi.Timespec, a *Args) (uint64, error) {
	if !d.Valid() {
		return 0, sys.EINVAL
	}
	return done(sleepUntil(t, t.Deadline(d.Duration()), a[1]))
}

func clockNanosleep(t *proc.Thread, a *Args) (uint64, error) {
	d, err := get[abi.Timespec](t, a[2])
	if err != nil {
		return 0, err
	}
	now, err := nowOf(t, asInt(a[0]))
	switch {
	case err != nil:
		return 0, err
	case !d.Valid():
		return 0, sys.EINVAL
	case asInt(a[0]) < 0, asInt(a[0]) == abi.CLOCK_PROCESS_CPUTIME_ID, asInt(a[0]) == abi.CLOCK_THREAD_CPUTIME_ID:
		return 0, sys.EOPNOTSUPP
	case a[1] != abi.TIMER_ABSTIME:
		return done(sleepUntil(t, t.Deadline(d.Duration()), a[3]))
	}
	return done(sleepUntil(t, time.Now().Add(d.Duration()-now.Duration()), 0))
}

// sleepUntil sleeps. If a signal interrupts it, it stores the remaining time.
//
// Errors: EINTR.
func sleepUntil(t *proc.Thread, end time.Time, left uint64) error {
	timer := time.NewTimer(time.Until(end))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-t.Cancel():
	}
	if err := putIf(t, left, abi.TimespecOf(max(time.Until(end), 0))); err != nil {
		return err
	}
	return sys.EINTR
}

func schedYield(*proc.Thread, *Args) (uint64, error) {
	Yield()
	return 0, nil
}
