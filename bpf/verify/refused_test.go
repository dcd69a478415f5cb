package verify

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"sonde/bpf"
)

// TestRefused holds which instruction is refused, and what is said, for each program of the file.
func TestRefused(t *testing.T) {
	data, err := os.ReadFile("testdata/refused.txt")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(data)), "\n")[1:]
	if len(lines) < 2*60 {
		t.Fatalf("%d programs: expected at least 60", len(lines)/2)
	}
	for i := 0; i < len(lines); i += 2 {
		got := "accepted"
		if _, e := check(t, lines[i], Limits{}); e != nil {
			got = fmt.Sprintf("%d: %s", e.PC, e.Why)
		}
		if want := strings.TrimPrefix(lines[i+1], "\t"); got != want {
			t.Errorf("%s\ngot  %s\nwant %s", lines[i], got, want)
		}
	}
}

// TestErrorNames: the error names the instruction and where it comes from.
func TestErrorNames(t *testing.T) {
	p := load(t, "r0 = 0; r0 = *(u64 *)(r0 + 0); exit")
	p.Lines = []bpf.Line{{PC: 1, File: "a.c", Number: 7, Text: "return *p;"}}
	_, err := Check(p, NewEnv())
	want := "instruction 1 (r0 = *(u64 *)(r0 + 0)) at a.c:7: R0 invalid mem access 'scalar': it holds 0: expected a pointer for a load of 8 bytes"
	if err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

// many has a finished state at its last jump for each of 256 numbers, none of which covers another.
const many = `r6 = *(u64 *)(r1 + 0); r7 = 0; if r6 & 1 goto a; r7 += 1; a: r7 += r7; if r6 & 2 goto b; r7 += 1; b: r7 += r7; if r6 & 4 goto c; r7 += 1; c: r7 += r7
if r6 & 8 goto d; r7 += 1; d: r7 += r7; if r6 & 16 goto e; r7 += 1; e: r7 += r7; if r6 & 32 goto f; r7 += 1; f: r7 += r7; if r6 & 64 goto g; r7 += 1; g: r7 += r7
if r6 & 128 goto h; r7 += 1; h: r7 += 1; if r7 == 1000 goto i; r7 += 2; i: r1 = r10; r1 += r7; r1 -= 600; r0 = 0; exit`

// TestLimits: a walk that takes too long ends with an error that says so, and names the
// instruction with the most states.
func TestLimits(t *testing.T) {
	c, e := check(t, many, Limits{})
	if e != nil {
		t.Fatal(e)
	}
	if bound := 64 * strings.Count(many, ": "); c.States > bound {
		t.Errorf("%d states were kept: expected at most %d", c.States, bound)
	}
	few, e := check(t, many, Limits{States: 2})
	if e != nil {
		t.Fatal(e)
	}
	if few.States > 40 {
		t.Errorf("%d states were kept with a limit of 2 for each instruction: expected at most 40", few.States)
	}
	if few.Steps < c.Steps {
		t.Errorf("%d steps with few states, %d with many: expected no less", few.Steps, c.Steps)
	}
	for _, l := range []struct {
		limits Limits
		want   string
	}{
		{Limits{Steps: 500}, "BPF program is too large: 500 instructions were walked, which is the limit; most states, "},
		{Limits{Memory: 50000}, "more than the limit of 50000; most states, "},
		{Limits{Values: 5000}, "the walk compares and keeps more than 5000 values; most states, "},
	} {
		if _, e := check(t, many, l.limits); e == nil || !e.TooBig || !strings.Contains(e.Why, l.want) || !strings.Contains(e.Why, "are kept at instruction ") {
			t.Errorf("%+v: got %v, expected %q", l.limits, e, l.want)
		}
	}
}

// TestLog holds the log, which tools print, at both levels: a path that is safe is in that of
// level 2 only.
func TestLog(t *testing.T) {
	p := load(t, "r6 = *(u64 *)(r1 + 112); LOOKUP; if r0 == 0 goto out; w1 = w6; *(u32 *)(r0 + 4) = r1; r0 = 0; exit; out: r0 = r10; r0 *= 2; exit")
	p.Lines = []bpf.Line{{PC: 0, File: "a.c", Number: 3, Text: "u64 x = ctx->di;"}}
	for level, name := range []string{"", "testdata/log1.txt", "testdata/log2.txt"} {
		env := NewEnv()
		env.LogLevel = level
		_, err := Check(p, env)
		if err == nil {
			t.Fatal("accepted")
		}
		want := ""
		if name != "" {
			data, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			want = string(data)
		}
		if got := err.(*Error).Log; got != want {
			t.Errorf("level %d: got\n%s\nwant\n%s", level, got, want)
		}
	}
}
