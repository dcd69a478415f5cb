package report

import (
	"reflect"
	"strings"
	"testing"
)

const good = `=== lock/mutex
ok lock/mutex
=== kprobes/first_hit
# armed at 0x1001000
# 5 hits
FAIL kprobes/first_hit: 5 hits, want 6: see above
=== kwatch/arm
skip kwatch/arm: no debug registers
leak: pages 10->12 slots 0->0 goroutines 5->4
1 passed, 1 failed, 1 skipped
`

func TestParse(t *testing.T) {
	r := Parse(good)
	want := []Case{
		{Name: "lock/mutex", Verdict: OK},
		{Name: "kprobes/first_hit", Verdict: Fail, Why: "5 hits, want 6: see above", Remarks: []string{"armed at 0x1001000", "5 hits"}},
		{Name: "kwatch/arm", Verdict: Skip, Why: "no debug registers"},
	}
	if !reflect.DeepEqual(r.Cases, want) {
		t.Errorf("%+v", r.Cases)
	}
	if r.Summary == "" || r.Mismatch != "" {
		t.Errorf("summary %q, mismatch %q", r.Summary, r.Mismatch)
	}
	if got := r.Leaked(); !reflect.DeepEqual(got, []Count{{"pages", 10, 12}}) || len(r.Leaks) != 3 {
		t.Errorf("leaks %v of %v", got, r.Leaks)
	}
}

func TestParseNamesTheCaseThatDidNotFinish(t *testing.T) {
	cut := good[:strings.Index(good, "FAIL")]
	r := Parse(cut)
	last := r.Cases[len(r.Cases)-1]
	if last.Name != "kprobes/first_hit" || last.Verdict != Unfinished || len(last.Remarks) != 2 || r.Summary != "" {
		t.Errorf("%+v, summary %q", last, r.Summary)
	}
}

func TestParseNoticesAWrongSummary(t *testing.T) {
	for _, out := range []string{
		strings.Replace(good, "1 passed", "2 passed", 1),
		strings.Replace(good, "ok lock/mutex\n", "", 1),
	} {
		if r := Parse(out); r.Mismatch == "" {
			t.Errorf("accepted\n%s", out)
		}
	}
}

func TestParseOfNothing(t *testing.T) {
	if r := Parse(""); len(r.Cases) != 0 || r.Summary != "" {
		t.Errorf("%+v", r)
	}
	if r := Parse("ok\nnoise\n=== \nleak: x\n"); len(r.Leaks) != 0 {
		t.Errorf("%+v", r)
	}
}
