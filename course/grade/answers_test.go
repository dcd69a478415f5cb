package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestReadAnswers: lines that are no answers are left out, and a question with two has none.
func TestReadAnswers(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "answer.txt"), "# lost: 5\nseed: autumn-1\n line : a.go:7 \nlost:\nevery: 3\nevery: 4\nnothing\n")
	a := (&Lab{Answer: "answer.txt"}).readAnswers(dir)
	if a["seed"] != "autumn-1" || a["line"] != "a.go:7" || a["lost"] != "" || a["every"] != "more than one answer" || len(a) != 4 {
		t.Errorf("%q", a)
	}
	if a := (&Lab{}).readAnswers(dir); len(a) != 0 {
		t.Errorf("a lab without answers has %q", a)
	}
}

// TestSeeds: what a script may contain, and whose it is.
func TestSeeds(t *testing.T) {
	for _, c := range []struct {
		seed, class string
		ok          bool
	}{
		{"4711", "", true}, {"autumn-4711", "", true}, {"autumn-4711", "autumn", true}, {"autumn-2026-4711", "Autumn 2026", true},
		{"", "", false}, {"4711", "autumn", false}, {"autumn-", "autumn", false}, {"autumn", "autumn", false}, {"1; poweroff", "", false},
		{"A", "", false}, {"1\n2", "", false}, {strings.Repeat("9", 41), "", false},
	} {
		if expected, _ := (answers{"seed": c.seed}).doubt(c.class); (expected == "") != c.ok {
			t.Errorf("seed %q of class %q: %q", c.seed, c.class, expected)
		}
	}
}

// TestAnswersAreNotShown: what is expected says what was asked, and never the answer.
func TestAnswersAreNotShown(t *testing.T) {
	known := map[string]string{"work.lost": "44", "fault.line": "a.go:7", "work.cost": "100"}
	a := answers{"lost": "44", "line": "a.go:8", "cost": "121", "near": "120"}
	for _, c := range []struct{ asked, expected, got string }{
		{"lost {work.lost} how many", "", ""},
		{"line {fault.line} the line", "the line", "line: a.go:8"},
		{"cause {fault.cause} the cause", "an answer to each question of this test", "none to cause"},
		{"lost {work.nothing} how many", "how many", "lost: 44"},
	} {
		if expected, got := a.compare([]string{c.asked}, known); expected != c.expected || got != c.got {
			t.Errorf("%s: expected %q, got %q", c.asked, expected, got)
		}
	}
	if _, got := a.compare([]string{"first {work.lost} w", "line {fault.line} w", "cause {fault.cause} w"}, known); got != "none to first, cause" {
		t.Errorf("got %q", got)
	}
	for asked, ok := range map[string]bool{
		"near {work.cost} 20 words": true, "cost {work.cost} 20 words": false, "line {work.cost} 20 words": false, "near {work.none} 20 words": false,
	} {
		expected, _ := a.near([]string{asked}, known)
		if (expected == "") != ok || strings.Contains(expected, "100") {
			t.Errorf("%s: %q", asked, expected)
		}
	}
}

// TestFewer: of the lines that begin alike, the last counts; none is too few.
func TestFewer(t *testing.T) {
	known := map[string]string{"work.calls": "10"}
	for lines, ok := range map[string]bool{
		"lab6: plain 9": true, "lab6: plain 10|lab6: plain 1": true, "lab6: plain 9|lab6: plain 10": false, "lab6: plain 0": false,
		"lab6: plain -3": false, "lab6: plain x": false, "lab6: atomic 5": false, "": false,
	} {
		if expected, _ := fewer(strings.Split(lines, "|"), "{work.calls} lab6: plain", known); (expected == "") != ok {
			t.Errorf("%q: %q", lines, expected)
		}
	}
}

// TestFaults: each seed has a fault whose statement is in the source once, and all three occur.
func TestFaults(t *testing.T) {
	functions := map[string]bool{}
	for _, seed := range strings.Fields("1 2 3 4 5 6 7 8 9 autumn-1 autumn-2 autumn-3") {
		f, err := about(rootOf(t), seed)
		if err != nil || !strings.HasPrefix(f["fault.line"], "post_tamago.go:") {
			t.Fatalf("%v, %v", f, err)
		}
		functions[f["fault.function"]] = true
	}
	if len(functions) != 3 {
		t.Errorf("%v", functions)
	}
}
