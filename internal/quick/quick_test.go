package quick

import (
	"testing"
	"time"
)

// told is a test that only notes that it has failed.
type told struct {
	testing.TB
	failed bool
}

func (t *told) Errorf(string, ...any) { t.failed = true }

// TestWithin: to wait takes no processor, to compute does.
func TestWithin(t *testing.T) {
	const limit = 50 * time.Millisecond
	for what, f := range map[string]func(){
		"wait": func() { time.Sleep(2 * limit) },
		"compute": func() {
			for end := used(t) + 2*limit; used(t) < end; {
			}
		},
	} {
		fake := &told{TB: t}
		if within(fake, limit, f); fake.failed != (what == "compute") {
			t.Errorf("%s: failed %v", what, fake.failed)
		}
	}
}
