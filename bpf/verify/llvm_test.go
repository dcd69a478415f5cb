package verify

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestLLVM: what LLVM 14 makes of C, for the second and the third version of the instruction set,
// is accepted: histograms, strings with a length that is bounded through a copy, records, loops,
// spills, functions, callbacks. What execute has the helpers for is run, too.
func TestLLVM(t *testing.T) {
	files, _ := filepath.Glob("testdata/llvm/*.txt")
	if len(files) < 20 {
		t.Fatalf("%d programs: expected at least 20", len(files))
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		c, e := check(t, strings.TrimSpace(string(data)), Limits{})
		if e != nil {
			t.Errorf("%s: %v", file, e)
			continue
		}
		t.Logf("%s: %d instructions, worst %d, steps %d, states %d", filepath.Base(file), len(c.Insns), c.Worst, c.Steps, c.States)
		if slices.ContainsFunc(c.Calls, func(n int) bool { return n != 1 && n != 113 }) {
			continue
		}
		ch := chain{Rand: rand.New(rand.NewPCG(1, 2))}
		for range 50 {
			if err := ch.execute(c); err != nil {
				t.Errorf("%s: %v", file, err)
			}
		}
	}
}
