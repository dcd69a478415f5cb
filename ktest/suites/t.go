package suites

import (
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"time"
)

// T is a running case. The case's goroutines may call its methods until the case returns; a probe's
// handler may never call them.
type T struct {
	name string
	wg   sync.WaitGroup
	mu   sync.Mutex
	// guarded by mu:
	out      io.Writer
	failures []string
	skipped  string
}

// maxRemarks limits what one case prints about its failures: a loop may fail in every round.
const maxRemarks = 20

// Limit is how long anything in a case may take before it counts as hung. It
// is far beyond what the slowest machine needs.
const Limit = 5 * time.Minute

// Logf prints a remark.
func (t *T) Logf(format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.remark(fmt.Sprintf(format, args...))
}

// remark prints text with a mark on every line. The caller holds mu.
func (t *T) remark(text string) {
	for line := range strings.Lines(text) {
		fmt.Fprintf(t.out, "# %s\n", strings.TrimRight(line, "\n"))
	}
}

// Errorf makes the case fail and continues.
func (t *T) Errorf(format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	why := fmt.Sprintf(format, args...)
	t.failures = append(t.failures, why)
	if n := len(t.failures); n <= maxRemarks {
		t.remark(why) // at once: the machine may end before the verdict
	}
}

// Fatalf makes the case fail and ends the goroutine.
func (t *T) Fatalf(format string, args ...any) {
	t.Errorf(format, args...)
	runtime.Goexit()
}

// Skipf ends the case: the machine cannot have what it tests.
func (t *T) Skipf(format string, args ...any) {
	t.mu.Lock()
	t.skipped = fmt.Sprintf(format, args...)
	t.mu.Unlock()
	runtime.Goexit()
}

// Failed reports whether the case has failed.
func (t *T) Failed() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.failures) > 0
}

// Must ends the case if err is not nil.
func (t *T) Must(err error) {
	if err != nil {
		t.Fatalf("%v", err)
	}
}

// Go runs f in a goroutine; a panic in it makes the case fail. The case ends only when all such
// goroutines have ended.
func (t *T) Go(f func()) {
	t.wg.Add(1)
	go func() {
		defer t.wg.Done()
		defer t.catch()
		f()
	}()
}

// Wait returns when all goroutines started by Go have ended.
func (t *T) Wait() { t.wg.Wait() }

// catch turns a panic into a failure of the case. The caller defers it.
func (t *T) catch() {
	if e := recover(); e != nil {
		t.Errorf("panic: %v\n%s", e, debug.Stack())
	}
}

// Until waits for done, letting others run, and ends the case if that takes
// longer than Limit.
func (t *T) Until(what string, done func() bool) {
	for end := time.Now().Add(Limit); !done(); runtime.Gosched() {
		if time.Now().After(end) {
			t.Fatalf("waited %v for %s", Limit, what)
		}
	}
}

// verdict returns the last line of the case.
func (t *T) verdict() string {
	switch n := len(t.failures); {
	case n > 1:
		return fmt.Sprintf("FAIL %s: %s (and %d more)", t.name, firstLine(t.failures[0]), n-1)
	case n == 1:
		return fmt.Sprintf("FAIL %s: %s", t.name, firstLine(t.failures[0]))
	case t.skipped != "":
		return fmt.Sprintf("skip %s: %s", t.name, firstLine(t.skipped))
	}
	return "ok " + t.name
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}
