// Package quick has the limits of tests on the host. What must take no time is bounded by the processor's
// time, which does not depend on what else the host has to do, as the time of day does. What is waited for
// has as long as any host may need.
package quick

import (
	"testing"
	"time"
)

// Limit is how long a processor may take for what takes less than a second on a usual one, and minutes if
// it is made badly. It is for slow processors, and for the race detector.
const Limit = 15 * time.Second

// Hang is how long a test waits for what comes at once on a quiet host. What has not come then never will.
const Hang = 5 * time.Minute

// Do calls f. The test fails if the process needs more than Limit for that, in all its threads.
func Do(t testing.TB, f func()) {
	t.Helper()
	within(t, Limit, f)
}

func within(t testing.TB, limit time.Duration, f func()) {
	t.Helper()
	before := used(t)
	f()
	if took := used(t) - before; took > limit {
		t.Errorf("it took %v of the processor's time, more than %v", took, limit)
	}
}
