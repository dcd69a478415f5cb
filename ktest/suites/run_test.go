package suites

import (
	"errors"
	"io"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"sonde/qemu/report"
)

// with runs the given cases in place of the registered ones.
func with(t *testing.T, pattern string, add func()) (out string, failed int) {
	t.Helper()
	oldCases, oldOrder := cases, order
	defer func() { cases, order = oldCases, oldOrder }()
	cases, order = nil, []string{"first"}
	add()
	var b strings.Builder
	failed, err := Run(&b, pattern)
	if err != nil {
		t.Error(err)
	}
	return b.String(), failed
}

func TestReportUnderstandsRun(t *testing.T) {
	out, failed := with(t, "", func() {
		Add("later/fine", func(t *T) { t.Logf("a remark\nof two lines") })
		Add("first/error", func(t *T) { t.Errorf("one: thing"); t.Errorf("another") })
		Add("later/fatal", func(t *T) { t.Fatalf("no way on"); panic("unreachable") })
		Add("later/panic", func(t *T) { panic("oops") })
		Add("later/helper", func(t *T) { t.Go(func() { panic("in a goroutine") }) })
		Add("first/skip", func(t *T) { t.Skipf("needs two CPUs") })
	})
	r := report.Parse(out)
	if failed != 4 || r.Mismatch != "" || r.Summary == "" || len(r.Leaked()) != 0 {
		t.Errorf("%d failed, mismatch %q\n%s", failed, r.Mismatch, out)
	}
	want := []report.Case{
		{Name: "first/error", Verdict: report.Fail, Why: "one: thing (and 1 more)"},
		{Name: "first/skip", Verdict: report.Skip, Why: "needs two CPUs"},
		{Name: "later/fine", Verdict: report.OK},
		{Name: "later/fatal", Verdict: report.Fail, Why: "no way on"},
		{Name: "later/panic", Verdict: report.Fail, Why: "panic: oops"},
		{Name: "later/helper", Verdict: report.Fail, Why: "panic: in a goroutine"},
	}
	if len(r.Cases) != len(want) {
		t.Fatalf("%d cases\n%s", len(r.Cases), out)
	}
	for i, c := range r.Cases {
		if c.Name != want[i].Name || c.Verdict != want[i].Verdict || c.Why != want[i].Why {
			t.Errorf("%+v, want %+v", c, want[i])
		}
	}
	if !strings.Contains(out, "run_test.go") {
		t.Errorf("the panic's stack is missing\n%s", out)
	}
}

func TestPatternSelects(t *testing.T) {
	for _, c := range []struct {
		pattern string
		want    int
	}{{"", 3}, {"a/", 2}, {"x", 2}, {"a/x", 1}, {"*/x", 2}, {"?/y", 1}} {
		out, _ := with(t, c.pattern, func() {
			for _, name := range []string{"a/x", "a/y", "b/x"} {
				Add(name, func(*T) {})
			}
		})
		if n := strings.Count(out, "\nok ") + strings.Count(out[:min(3, len(out))], "ok "); n != c.want {
			t.Errorf("%q runs %d, want %d\n%s", c.pattern, n, c.want, out)
		}
	}
}

func TestLeakIsSeen(t *testing.T) {
	end := make(chan struct{})
	defer close(end)
	out, _ := with(t, "", func() { Add("a/leaks", func(*T) { go func() { <-end }() }) })
	r := report.Parse(out)
	if l := r.Leaked(); len(l) != 1 || l[0].Name != "goroutines" {
		t.Errorf("%v\n%s", l, out)
	}
}

func TestAddRefuses(t *testing.T) {
	for _, name := range []string{"", "a", "a/", "a/b c", "a/b:"} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%q accepted", name)
				}
			}()
			with(t, "", func() { Add(name, nil) })
		}()
	}
}

func TestSeveralPatterns(t *testing.T) {
	all := func() {
		for _, name := range []string{"a/one", "b/two", "c/three"} {
			Add(name, func(*T) {})
		}
	}
	out, _ := with(t, "*/t*", all)
	if got := len(report.Parse(out).Cases); got != 2 {
		t.Errorf("%d cases fit */t*, want 2\n%s", got, out)
	}
	oldCases, oldOrder := cases, order
	defer func() { cases, order = oldCases, oldOrder }()
	all()
	for pattern, want := range map[string]string{"a/ */three": "a/one\nc/three\n", "c/": "c/three\n", "!b/": "a/one\nc/three\n", "*/t* !c/ !a/": "b/two\n"} {
		var b strings.Builder
		if err := List(&b, strings.Fields(pattern)...); err != nil || b.String() != want {
			t.Errorf("%s: %v, %q, want %q", pattern, err, &b, want)
		}
	}
}

// TestPatternOfNothing: a pattern that no case fits is an error, and no case of another pattern runs.
func TestPatternOfNothing(t *testing.T) {
	oldCases, oldOrder := cases, order
	defer func() { cases, order = oldCases, oldOrder }()
	cases = nil
	Add("a/one", func(*T) { t.Error("a case runs") })
	for _, f := range []func(io.Writer, ...string) error{
		List, func(w io.Writer, patterns ...string) error { _, err := Run(w, patterns...); return err },
	} {
		var b strings.Builder
		err := f(&b, "a/", "b/two")
		if !errors.Is(err, syscall.ENOENT) || !strings.Contains(err.Error(), `no case fits "b/two": ktest -l lists them all`) || b.Len() > 0 {
			t.Errorf("%v, %q", err, &b)
		}
	}
}

func TestShortRunLeavesCasesToAnother(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	defer short.Set("0")
	for _, c := range []struct {
		cpus         int
		short        string
		one, several report.Verdict
	}{{1, "0", report.OK, report.OK}, {2, "0", report.OK, report.OK}, {1, "1", report.OK, report.Skip}, {2, "1", report.Skip, report.OK}} {
		runtime.GOMAXPROCS(c.cpus)
		if err := short.Set(c.short); err != nil {
			t.Fatal(err)
		}
		out, _ := with(t, "", func() {
			Add("first/one", func(t *T) { t.OneProcessor() })
			Add("first/several", func(t *T) { t.SeveralProcessors() })
		})
		if got := report.Parse(out).Cases; len(got) != 2 || got[0].Verdict != c.one || got[1].Verdict != c.several {
			t.Errorf("%+v: %+v", c, got)
		}
	}
}

func TestBriefRunLeavesCasesToAnother(t *testing.T) {
	defer brief.Set("0")
	for value, want := range map[string]report.Verdict{"0": report.OK, "1": report.Skip} {
		if err := brief.Set(value); err != nil {
			t.Fatal(err)
		}
		out, _ := with(t, "", func() { Add("first/case", func(t *T) { t.OneMachine() }) })
		if c := report.Parse(out).Cases; len(c) != 1 || c[0].Verdict != want {
			t.Errorf("brief=%s: %+v, want %s", value, c, want)
		}
	}
}
