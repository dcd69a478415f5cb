package main

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sonde/qemu/machine"
	"sonde/qemu/story"
)

func TestParse(t *testing.T) {
	for args, ok := range map[string]bool{
		"-lab 1": true, "-lab 1 -test count -class autumn": true, "": false, "-lab 0": false, "-lab x": false, "-lab 1 more": false, "-nope": false,
	} {
		if _, err := parse(strings.Fields(args), io.Discard); (err == nil) != ok {
			t.Errorf("%q: %v", args, err)
		}
	}
}

func TestDraw(t *testing.T) {
	const text = "NAME {n} of {fn}\nDRAW n 5 7\nPICK fn a b c\nWANT {work.x}\n\nNAME {n}\nDRAW n 8 8\n"
	numbers, words := map[string]bool{}, map[string]bool{}
	for range 200 {
		out, err := draw(text, "")
		if err != nil || !strings.Contains(out, "WANT {work.x}") || !strings.Contains(out, "\n\nNAME 8\n") {
			t.Fatal(out, err)
		}
		f := strings.Fields(out)
		numbers[f[1]], words[f[3]] = true, true
	}
	if len(numbers) != 3 || len(words) != 1 {
		t.Errorf("%v, %v", numbers, words)
	}
	for _, class := range strings.Fields("autumn spring summer winter 2026 2027 x y z") {
		out, _ := draw(text, class)
		words[strings.Fields(out)[3]] = true
	}
	if len(words) != 3 {
		t.Errorf("ten classes have %v", words)
	}
	for _, bad := range []string{"NAME {n}\n", "DRAW n 7 5\n", "DRAW n a b\n"} {
		if _, err := draw(bad, ""); !errors.Is(err, ErrLab) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func TestFactsOfTheWorkload(t *testing.T) {
	r, doubt := facts("cpu0 5\r\ncalls 5\ndone calls\nagain.calls 7\nagain.done calls\n")
	if doubt != "" || r.done != 2 || r.values["calls"] != "5" || r.values["again.calls"] != "7" {
		t.Errorf("%+v, %q", r, doubt)
	}
	for _, twice := range []string{"calls 5\ncalls 6\n", "done calls\ndone calls\n"} {
		if _, doubt := facts(twice); doubt == "" {
			t.Errorf("nobody doubts %q", twice)
		}
	}
}

// theTest is a test with some words.
func theTest(t *testing.T, words string) *Test {
	t.Helper()
	path := filepath.Join(t.TempDir(), "t.story")
	writeFile(t, path, "NAME one thing\nID one\nPOINTS 2\nRUN insmod lab1\nRUN insmod work do=calls\n"+words)
	tests, err := lab1(t).readTests(path, "", "lab1", false)
	if err != nil {
		t.Fatal(err)
	}
	return &tests[0]
}

// TestOutcomes: what a run has said, and what the grader makes of it.
func TestOutcomes(t *testing.T) {
	g := &grader{lab: lab1(t), module: "lab1"}
	const done = "calls 12\nentered 12\ndone calls\n"
	for _, c := range []struct {
		words     string
		o         output
		outcome   Outcome
		want, got string
	}{
		{"WANT lab1: {work.calls} calls\n", out("[ 1.5] lab1: 12 calls\n", done), OK, "", ""},
		{"WANT lab1: {work.calls} calls\n", out("lab1: 11 calls\nlab1: CPU 0: 12\n", done), Fail, "lab1: 12 calls", "lab1: 11 calls"},
		{"WANT lab1: {work.calls} calls\n", out("calls: 12\n", done), Fail, "lab1: 12 calls", "no such line"},
		{"TRUE entered 12 hits\n", out("", done), OK, "", ""},
		{"TRUE entered 13 hits\n", out("", done), Fail, "13 hits", "12 hits"},
		{"TRUE wrong nothing that can go wrong\n", out("", done+"wrong at +2 a CPU\n"), Fail, "nothing that can go wrong", "at +2 a CPU"},
		{"EXPECT_NOT warn\n", out("a warning\n", done), Fail, `no line that fits "warn"`, "a warning"},
		{"EXPECT ^ready$\n", out("not ready\n", done), Fail, "a run as in the test", "EXPECT ^ready$: no such line"},
		{"STATUS 1\n", out("", done), Fail, "a run as in the test", "STATUS is 0, want 1"},
		{"", out("", "calls 12\n"), Fail, "an end of all 1 workloads", "0 ended; last on the console: bye"},
		{"", out("", done+"calls 13\n"), Fail, "one report of the workload", "two, about calls"},
		{"", output{Result: machine.Result{Crash: true, Reason: "panic: oh", Log: []byte("1\n2\n")}, work: done}, Crashed, "a kernel that goes on", "panic: oh"},
		{"", output{Result: machine.Result{Reason: "CPU 0 was at x"}, late: 90 * time.Second}, TooLong, "an end within 90 s", "none; CPU 0 was at x"},
		{"", output{Result: machine.Result{Log: []byte("kprobes: handler of k at vfs.Read+0x0/0x1 abandoned: allocates memory: x\n")}, work: done}, Abandoned,
			"handlers that keep the rules", "handler of k at vfs.Read+0x0/0x1 abandoned: allocates memory: x"},
		{"", output{Result: machine.Result{Log: []byte("kprobes: the pre-handler of x allocates memory, so it may be abandoned: y\n")}, work: done}, OK, "", ""},
	} {
		r := g.judge(theTest(t, c.words), &c.o)
		if r.Outcome != c.outcome || r.Expected != c.want || r.Got != c.got || r.Points != map[bool]int{true: 2}[c.outcome == OK] {
			t.Errorf("%q: %s with %d points, expected %q, got %q; want %s, %q, %q", c.words, r.Outcome, r.Points, r.Expected, r.Got, c.outcome, c.want, c.got)
		}
	}
}

// TestModulesThatAreNotLoaded: a test that has failed says why the module was not there.
func TestModulesThatAreNotLoaded(t *testing.T) {
	g := &grader{lab: lab1(t), module: "lab1"}
	const said = "insmod: lab1: no such module"
	for stdout, want := range map[string]string{"insmod: work: busy\n" + said + "\n": said, "insmod: work: busy\n": ""} {
		o := out(stdout, "calls 12\ndone calls\n")
		if r := g.judge(theTest(t, "TRUE calls 13 calls\n"), &o); strings.Join(r.Tail, "|") != want {
			t.Errorf("%q, want %q", r.Tail, want)
		}
	}
}

func out(stdout, work string) output {
	return output{Result: machine.Result{Stdout: []byte(stdout), Log: []byte("hello\nbye\n")}, work: work}
}

// TestBetween: a histogram may differ from the workload's two as a probe must, and not more.
func TestBetween(t *testing.T) {
	g := &grader{lab: lab1(t), module: "lab1"}
	const work = "inside.10 6\ninside.11 4\noutside.10 3\noutside.11 6\noutside.12 1\ndone calls\n"
	for rows, ok := range map[string]bool{
		"lab1: 2^10 6\nlab1: 2^11 4\n": true, "lab1: 2^10 3\nlab1: 2^11 6\nlab1: 2^12 1\n": true, "lab1: 2^10 4\nlab1: 2^11 6\n": true,
		"lab1: 2^10 7\nlab1: 2^11 3\n": false, "lab1: 2^10 2\nlab1: 2^11 8\n": false, "lab1: 2^10 5\nlab1: 2^11 4\n": false, "": false,
		"lab1: 2^10 5\nlab1: 2^11 6\n": false, "lab1: 2^99 10\n": false,
	} {
		o := out(rows, work)
		if r := g.judge(theTest(t, "BETWEEN inside outside\n"), &o); (r.Outcome == OK) != ok {
			t.Errorf("%q: %s, expected %s, got %s", rows, r.Outcome, r.Expected, r.Got)
		}
	}
}

// someScores have a test that has passed, one that has not, and one that has crashed.
func someScores(t *testing.T) *scores {
	l := lab1(t)
	test := func(id, name string, points int, hidden bool) *Test {
		return &Test{ID: id, Points: points, Hidden: hidden, Story: story.Story{Name: name, More: map[string][]string{"READ": {"chapter 1"}}}}
	}
	return &scores{lab: l, options: options{in: "lab/1"}, factor: 2, aside: []string{`"go.mod"`}, results: []*Result{
		{Test: test("a", "the first", 1, false), Outcome: OK, Points: 1},
		{Test: test("b", "the second", 3, false), Outcome: Fail, Expected: "12", Got: "11", Log: "b.log"},
		{Test: test("c", "the third", 2, true), Outcome: Crashed, Expected: "life", Got: "panic", Tail: []string{"x", "y"}, Log: "c.log"},
	}}
}

const printed = `lab 1: a probe of your own                                     1 of 6 points you can see here
  ok    the first                                                    1/1
  FAIL  the second                                                   0/3
        expected  12
        got       11
        read      chapter 1
        again     make grade LAB=1 TEST=b
        log       b.log
  FAIL  the third                                                    0/2
        outcome   crashed
        expected  life
        got       panic
        last      x
                  y
        read      chapter 1
        log       c.log
left aside: "go.mod" (only lab1.go is graded)
hidden, and not run here: 2 tests, 3 points
machine: 0.50 of the reference's speed, so limits are 6.0 times as long
`

func TestPrint(t *testing.T) {
	var b strings.Builder
	s := someScores(t)
	s.print(&b)
	if b.String() != printed {
		t.Errorf("%s", b.String())
	}
	if s.status(nil) != statusPoints || s.status(ErrBusy) != statusBusy || s.status(ErrLab) != statusUsage {
		t.Error("wrong status")
	}
	s.broken([]Test{{ID: "x", Points: 3}}, errors.Join(ErrLeft))
	if s.unbuilt = "lab/1/lab1.go:5:1: oh"; s.status(nil) != statusBuild {
		t.Error("wrong status")
	}
}

// TestFiles: what -json and -csv write.
func TestFiles(t *testing.T) {
	s := someScores(t)
	s.json, s.csv = filepath.Join(t.TempDir(), "j"), filepath.Join(t.TempDir(), "c")
	for range 2 {
		if err := s.write(); err != nil {
			t.Fatal(err)
		}
	}
	text, _ := os.ReadFile(s.json)
	var j struct {
		Score int
		Tests []struct {
			Name, Output, Visibility, Outcome string
			Score, Max_score                  int
		}
	}
	if err := json.Unmarshal(text, &j); err != nil || j.Score != 1 || len(j.Tests) != 3 || j.Tests[1].Max_score != 3 || j.Tests[2].Visibility == "visible" ||
		!strings.Contains(j.Tests[1].Output, "got       11") || j.Tests[2].Outcome != "crashed" {
		t.Errorf("%v, %+v", err, j)
	}
	text, _ = os.ReadFile(s.csv)
	rows := strings.Split(strings.TrimSpace(string(text)), "\n")
	if len(rows) != 7 || rows[0] != "folder,lab,test,points,of,outcome" || rows[6] != "lab/1,1,c,0,2,crashed" {
		t.Errorf("%q", rows)
	}
}

func TestErrorsNameTheStudentsFile(t *testing.T) {
	wd, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	said := "image: kernel does not build:\n# lab1\n" + filepath.Join("x", "lab1") + "/lab1.go:5:13: cannot use\n"
	if got := theirs(said, filepath.Join(wd, "x", "lab1"), "lab/1"); got != "lab/1/lab1.go:5:13: cannot use" {
		t.Errorf("%q", got)
	}
}

func TestLimitsScale(t *testing.T) {
	if l := (&Test{Limit: 10 * time.Second}).limit(2); l != time.Minute {
		t.Errorf("%v", l)
	}
	if f := measure(); f < 1 {
		t.Errorf("factor %f", f)
	}
}
