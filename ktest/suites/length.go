package suites

import (
	"runtime"
	"time"

	"sonde/sysctl"
)

var (
	long  = sysctl.NewBool("debug.ktest-long", false, "make ktest run the cases that take minutes, too")
	short = sysctl.NewBool("debug.ktest-short", false, "make ktest make fewer rounds of what depends on chance, and run what takes long either on one CPU or on several")
	brief = sysctl.NewBool("debug.ktest-brief", false, "make ktest skip the cases that need only be run on one kind of machine, and make fewer rounds")
)

// Long reports whether cases may take minutes (debug.ktest-long).
func Long() bool { return long.Get() }

// NeedsLong ends a case that takes minutes, unless that is wanted.
func (t *T) NeedsLong() {
	if !long.Get() {
		t.Skipf("takes minutes: sysctl -w %s=1", long.Name())
	}
}

// OneMachine ends a case that tests the same on every machine with two CPUs or more, if this one
// is told to leave such cases to another (debug.ktest-brief). It is for cases that take long, among them
// those that try places under load one after the other. What two CPUs can do to each other at random is
// tested everywhere.
func (t *T) OneMachine() {
	if brief.Get() {
		t.Skipf("one machine is enough, and this one is brief: %s", brief.Name())
	}
}

// OneProcessor is OneMachine for a case that tests the same with one CPU. debug.ktest-short leaves it to a
// machine with one, too: where a probe is changed without stopping others, it takes a fifth of the time. It
// is for cases that try all places, instructions or inputs one after the other, and for most of many that
// differ in one thing only.
func (t *T) OneProcessor() {
	t.OneMachine()
	if short.Get() && runtime.GOMAXPROCS(0) > 1 {
		t.Skipf("one CPU is enough, and this machine leaves it to another: %s", short.Name())
	}
}

// SeveralProcessors ends a case that several CPUs run as well, or better, on a machine with one, if
// debug.ktest-short leaves it to another. It is for cases under a load that keeps all CPUs busy.
func (t *T) SeveralProcessors() {
	if short.Get() && runtime.GOMAXPROCS(0) == 1 {
		t.Skipf("several CPUs are better, and this machine leaves it to them: %s", short.Name())
	}
}

// Rounds returns how often a case repeats what depends on chance: few times, a third of it when
// debug.ktest-short or debug.ktest-brief is set, many times when debug.ktest-long is.
func Rounds(few, many int) int {
	switch {
	case long.Get():
		return many
	case short.Get() || brief.Get():
		return max(few/3, 1)
	}
	return few
}

// Storm returns how long a case lets everything happen at once, that many seconds: a third of it when
// debug.ktest-short or debug.ktest-brief is set. Longer storms are cases of their own.
func Storm(seconds int) time.Duration {
	const parts = 6
	return time.Duration(Rounds(parts, parts)*seconds) * time.Second / parts
}
