package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestGradeAll: students whose labs do not build need no kernel. The second run grades only what has
// changed.
func TestGradeAll(t *testing.T) {
	dir, out := t.TempDir(), t.TempDir()
	writeFile(t, filepath.Join(dir, "anna", "1", "lab1.go"), "package lab1\nfun\n")
	writeFile(t, filepath.Join(dir, "ben", "2", "other.go"), "package lab2\n")
	writeFile(t, filepath.Join(dir, "a b\nc", "README"), "nothing\n")
	writeFile(t, filepath.Join(dir, "list.txt"), "no student\n")
	if err := errors.Join(os.MkdirAll(filepath.Join(dir, "carl"), 0o755), os.Symlink(filepath.Join(dir, "anna", "1"), filepath.Join(dir, "carl", "1"))); err != nil {
		t.Fatal(err)
	}
	o := options{root: rootOf(t), all: dir, out: out}
	run := func() string {
		var b strings.Builder
		if err := gradeAll(o, &b); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	first := run()
	for _, want := range []string{"anna ", "lab 1: does not build", "ben ", "lab 2: does not build", "carl", "not graded", `"a b\nc" `} {
		if !strings.Contains(first, want) {
			t.Errorf("%q is missing:\n%s", want, first)
		}
	}
	page, _ := os.ReadFile(filepath.Join(out, "anna.txt"))
	points, _ := os.ReadFile(filepath.Join(out, "points.csv"))
	if !strings.Contains(string(page), "lab1.go:2:1: expected") || !strings.Contains(string(points), "anna,0,-,-") {
		t.Errorf("%s\n%s", page, points)
	}
	// What was kept is believed until a file is newer.
	kept := filepath.Join(out, "anna", "1", "marked.json")
	writeFile(t, kept, `{"Points": 7, "Of": 8, "Worst": "lab 1: FAIL"}`)
	if second := run(); !strings.Contains(second, "lab 1: FAIL") {
		t.Errorf("anna was graded again:\n%s", second)
	}
	later := time.Now().Add(time.Hour)
	if err := os.Chtimes(filepath.Join(dir, "anna", "1", "lab1.go"), later, later); err != nil {
		t.Fatal(err)
	}
	if third := run(); third != first {
		t.Errorf("anna was not graded again:\n%s", third)
	}
	o.all = filepath.Join(dir, "none")
	if err := gradeAll(o, &strings.Builder{}); err == nil {
		t.Error("a folder that is not there is graded")
	}
}

// TestSettle: hidden tests that are settled for a class are what the grader would run for it.
func TestSettle(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "hidden")
	o := options{root: rootOf(t), class: "autumn", settle: dir}
	if err := settle(o); err != nil {
		t.Fatal(err)
	}
	for _, l := range labsHere(t) {
		for i, test := range testsOf(t, l, "autumn", l.Module) {
			if !test.Hidden {
				continue
			}
			own := options{root: o.root, lab: l.N, class: "spring", hidden: dir} // the class chooses nothing any more
			tests, err := own.tests(l, l.Module)
			if err != nil {
				t.Fatal(err)
			}
			if got, want := digit.ReplaceAllString(tests[i].Script, "N"), digit.ReplaceAllString(test.Script, "N"); got != want {
				t.Errorf("lab %d, %s:\n%s\nwant\n%s", l.N, test.ID, got, want)
			}
		}
	}
	if err := settle(o); err == nil || !strings.Contains(err.Error(), "is there already") {
		t.Errorf("a second time: %v", err)
	}
}
