package abi

import "time"

// Timespec is struct timespec.
type Timespec struct{ Sec, Nsec int64 }

// Timeval is struct timeval.
type Timeval struct{ Sec, Usec int64 }

// Itimerspec is struct itimerspec.
type Itimerspec struct{ Interval, Value Timespec }

// Itimerval is struct itimerval.
type Itimerval struct{ Interval, Value Timeval }

// Tms is struct tms, in ticks of 1/100 s.
type Tms struct{ User, System, ChildUser, ChildSystem int64 }

// The clocks of clock_gettime.
const (
	CLOCK_REALTIME           = 0
	CLOCK_MONOTONIC          = 1
	CLOCK_PROCESS_CPUTIME_ID = 2
	CLOCK_THREAD_CPUTIME_ID  = 3
	CLOCK_MONOTONIC_RAW      = 4
	CLOCK_REALTIME_COARSE    = 5
	CLOCK_MONOTONIC_COARSE   = 6
	CLOCK_BOOTTIME           = 7
	CLOCK_REALTIME_ALARM     = 8
	CLOCK_BOOTTIME_ALARM     = 9

	TIMER_ABSTIME           = 1
	TFD_TIMER_ABSTIME       = 1
	TFD_TIMER_CANCEL_ON_SET = 2

	ITIMER_REAL    = 0
	ITIMER_VIRTUAL = 1
	ITIMER_PROF    = 2
)

// TicksPerSecond is the unit of Tms and of /proc/PID/stat.
const TicksPerSecond = 100

// TimespecOf is d in seconds and nanoseconds.
func TimespecOf(d time.Duration) Timespec {
	return Timespec{int64(d / time.Second), int64(d % time.Second)}
}

// TimevalOf is d in seconds and microseconds.
func TimevalOf(d time.Duration) Timeval {
	return Timeval{int64(d / time.Second), int64(d % time.Second / time.Microsecond)}
}

// Valid reports whether t is a time that Linux accepts: not negative, with less
// than a second of nanoseconds.
func (t Timespec) Valid() bool { return t.Sec >= 0 && t.Nsec >= 0 && t.Nsec < 1e9 }

// Valid is Timespec.Valid.
func (t Timeval) Valid() bool { return t.Sec >= 0 && t.Usec >= 0 && t.Usec < 1e6 }

// Duration is t as a duration, the longest there is if t is longer.
func (t Timespec) Duration() time.Duration {
	const most = time.Duration(1<<63 - 1)
	if t.Sec >= int64(most/time.Second) {
		return most
	}
	return time.Duration(t.Sec)*time.Second + time.Duration(t.Nsec)
}

// Duration is Timespec.Duration.
func (t Timeval) Duration() time.Duration { return Timespec{t.Sec, t.Usec * 1000}.Duration() }
