package main

import (
	"io"
	"os"
	"strings"
	"testing"
)

// TestWatchSaysWhatIsNext: after the last point come what is hidden and the next lab; keys show hints and failures.
func TestWatchSaysWhatIsNext(t *testing.T) {
	o := options{root: rootOf(t), lab: 1}
	l, err := readLab(o.root, 1)
	if err != nil {
		t.Fatal(err)
	}
	w := &watcher{options: o, lab: l, last: &scores{lab: l, results: []*Result{{Test: &Test{ID: "count", Points: 1}, Outcome: OK, Points: 1}}}}
	text := printedBy(t, func() { w.show() })
	for _, want := range []string{"hidden, and not run here: " + l.Hidden + "\n", "next: make lab LAB=2, "} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in:\n%s", want, text)
		}
	}
	w.last.results[0].Outcome = Fail
	if text := printedBy(t, func() { w.press('h'); w.press('\n') }); !strings.HasPrefix(text, "1. ") || strings.Contains(text, "keys:") {
		t.Errorf("hints: %q", text)
	}
	if text := printedBy(t, func() { w.press('n') }); strings.Contains(text, "next:") || !strings.Contains(text, "FAIL") {
		t.Errorf("a failure: %q", text)
	}
}

// printedBy returns what f prints.
func printedBy(t *testing.T, f func()) string {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout := os.Stdout
	os.Stdout = w
	f()
	os.Stdout = stdout
	w.Close()
	text, err := io.ReadAll(r)
	if err != nil {
		t.Error(err)
	}
	return string(text)
}
