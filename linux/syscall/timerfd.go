package syscall

import (
	sys "syscall"
	"time"

	"sonde/kernel/abi"
	"sonde/linux/event"
	"sonde/linux/proc"
)

// timerClock returns the clock with that number, for a timerfd. Clocks that could wake a sleeping
// machine equal the others here: it does not sleep.
//
// Errors: EINVAL.
func timerClock(number int) (c event.Clock, err error) {
	c.Number = number
	switch number {
	case abi.CLOCK_REALTIME, abi.CLOCK_REALTIME_ALARM:
		c.Now = func() time.Duration { return time.Duration(time.Now().UnixNano()) }
	case abi.CLOCK_MONOTONIC, abi.CLOCK_BOOTTIME, abi.CLOCK_BOOTTIME_ALARM:
		c.Now = Uptime
	default:
		err = sys.EINVAL
	}
	return c, err
}

func timerfdCreate(t *proc.Thread, a *Args) (uint64, error) {
	flags := asInt(a[1])
	c, err := timerClock(asInt(a[0]))
	if err != nil || flags&^(abi.O_CLOEXEC|abi.O_NONBLOCK) != 0 {
		return 0, sys.EINVAL
	}
	return install(t, event.NewTimerfd(c, flags), flags&abi.O_CLOEXEC != 0)
}

// timerfdSettime also accepts TFD_TIMER_CANCEL_ON_SET: nothing sets the clocks.
func timerfdSettime(t *proc.Thread, a *Args) (uint64, error) {
	v, err := get[abi.Itimerspec](t, a[2])
	if err != nil {
		return 0, err
	}
	flags := asInt(a[1])
	if flags&^(abi.TFD_TIMER_ABSTIME|abi.TFD_TIMER_CANCEL_ON_SET) != 0 || !v.Value.Valid() || !v.Interval.Valid() {
		return 0, sys.EINVAL
	}
	timer, err := fileAs[*event.Timer](t, a[0])
	if err != nil {
		return 0, err
	}
	absolute := flags&abi.TFD_TIMER_ABSTIME != 0
	old := itimerspec(timer.Set(v.Value.Duration(), v.Interval.Duration(), absolute, flags))
	return done(putIf(t, a[3], old))
}

func timerfdGettime(t *proc.Thread, timer *event.Timer, a *Args) (uint64, error) {
	return done(put(t, a[1], itimerspec(timer.Left())))
}
