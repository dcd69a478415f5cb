package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// manyInstances is Go code in which a function has 2^24 instances, twice as many at each step.
func manyInstances() string {
	var b strings.Builder
	b.WriteString("\ntype (\n\tleft[T any]  struct{ x T }\n\tright[T any] struct{ x T }\n)\n\nvar first = step0[int]\n")
	for i := range 24 {
		fmt.Fprintf(&b, "\nfunc step%d[T any]() {\n\tstep%d[left[T]]()\n\tstep%[2]d[right[T]]()\n}\n", i, i+1)
	}
	b.WriteString("\nfunc step24[T any]() { println(new(T)) }\n")
	return b.String()
}

// TestCompilersAreBounded: what the compiler cannot work out, in the module of lab 1 and in the code for
// the host of lab 5, ends as "does not build", by the limit of time and by that of memory.
func TestCompilersAreBounded(t *testing.T) {
	if testing.Short() || brief() || runtime.GOOS != "linux" {
		t.Skip("compiles for half a minute; only Linux keeps the bound")
	}
	defer func(b bound) { compilers = b }(compilers)
	for says, b := range map[string]bound{
		"was stopped after":           {time: time.Second / 2, memory: 4 << 20},
		"needs more than 1024 MB of ": {time: 10 * time.Second, memory: 1 << 20},
	} {
		compilers = b
		for n, file := range map[int]string{1: "lab1.go", 5: "check.go"} {
			l, err := readLab(rootOf(t), n)
			if err != nil {
				t.Fatal(err)
			}
			v := variant{name: says, files: l.solution(t)}
			v.files[file] += manyInstances()
			dir := filepath.Join(t.TempDir(), l.Module)
			clean(t, dir)
			l.layOne(t, dir, l.Module, v)
			if l.hasModule() {
				err = (&grader{lab: l}).build(rootOf(t), dir, dir)
			} else {
				_, _, err = l.buildHost(rootOf(t), dir, dir)
			}
			if !errors.Is(err, ErrLeft) || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "\n") {
				t.Errorf("lab %d: %.300v, want %q", n, err, says)
			}
		}
	}
}
