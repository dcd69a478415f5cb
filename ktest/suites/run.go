package suites

import (
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"syscall"
	"time"

	"sonde/kernel/refusal"
)

// order lists the suites that come first, because others rely on what they test. All others follow
// in the order in which they were registered.
var order = []string{"traps", "memory", "sched", "stop", "symbols", "kprobes"}

type namedCase struct {
	name string
	f    func(*T)
}

var cases []namedCase

// Script runs a line of the shell for a case and returns its status. The ktest command sets it.
var Script func(out io.Writer, line string) (status int)

// Add registers a case under "suite/case". It is for init functions.
func Add(name string, f func(t *T)) {
	suite, rest, ok := strings.Cut(name, "/")
	if !ok || rest == "" || strings.ContainsAny(name, " :") {
		panic("suites: " + name + ": want suite/case, without spaces and colons")
	}
	if slices.ContainsFunc(cases, func(c namedCase) bool { return c.name == name }) {
		panic("suites: " + name + " registered twice")
	}
	if !slices.Contains(order, suite) {
		order = append(order, suite)
	}
	cases = append(cases, namedCase{name, f})
}

// List prints the names of the cases that match one of the patterns: of all, if there are none. What a pattern after
// a "!" matches is left out.
//
// Errors: ENOENT no case matches a pattern.
func List(out io.Writer, patterns ...string) error {
	list, err := matching(patterns)
	for _, c := range list {
		fmt.Fprintln(out, c.name)
	}
	return err
}

// Run runs the cases that List lists, reports to out, and returns how many failed.
//
// Errors: ENOENT no case matches a pattern; none is run then.
func Run(out io.Writer, patterns ...string) (failed int, err error) {
	todo, err := matching(patterns)
	if err != nil {
		return 0, err
	}
	before := takeStock()
	var passed, skipped int
	for _, c := range todo {
		t := runCase(out, c)
		switch {
		case len(t.failures) > 0:
			failed++
		case t.skipped != "":
			skipped++
		default:
			passed++
		}
	}
	fmt.Fprintln(out, before.compare())
	fmt.Fprintf(out, "%d passed, %d failed, %d skipped\n", passed, failed, skipped)
	return failed, nil
}

// matching returns the cases of patterns; suites in their order.
//
// Errors: ENOENT no case matches a pattern.
func matching(patterns []string) (todo []namedCase, err error) {
	var wanted, unwanted []string
	for _, p := range patterns {
		p, not := strings.CutPrefix(p, "!")
		if !slices.ContainsFunc(cases, func(c namedCase) bool { return c.fits(p) }) {
			return nil, refusal.New(syscall.ENOENT, "no case fits %q: ktest -l lists them all", p)
		}
		if not {
			unwanted = append(unwanted, p)
		} else {
			wanted = append(wanted, p)
		}
	}
	for _, suite := range order {
		for _, c := range cases {
			in, _, _ := strings.Cut(c.name, "/")
			if in == suite && (len(wanted) == 0 || slices.ContainsFunc(wanted, c.fits)) && !slices.ContainsFunc(unwanted, c.fits) {
				todo = append(todo, c)
			}
		}
	}
	return todo, nil
}

// fits reports whether the case's name contains pattern or, with wildcards, fits it as a path.
func (c namedCase) fits(pattern string) bool {
	fits, _ := path.Match(pattern, c.name)
	return fits || strings.Contains(c.name, pattern)
}

// begin is called before a case, and what it returns after it: that takes away what the case has left attached, and
// names it. See left_tamago.go.
var begin = func() (left func() []string) { return func() []string { return nil } }

// runCase runs one case in a goroutine of its own, which Fatalf may end.
func runCase(out io.Writer, c namedCase) *T {
	fmt.Fprintf(out, "=== %s\n", c.name)
	t := &T{name: c.name, out: out}
	watchdog := time.AfterFunc(Limit, func() { t.Logf("%s still runs after %v", c.name, Limit) })
	start, left := time.Now(), begin()
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer t.wg.Wait()
		defer t.catch()
		c.f(t)
	}()
	<-done
	watchdog.Stop()
	for _, what := range left() {
		t.Errorf("it leaves %s", what)
	}
	if d := time.Since(start); d > time.Second {
		t.Logf("took %.1f s", d.Seconds())
	}
	fmt.Fprintln(out, t.verdict())
	return t
}
