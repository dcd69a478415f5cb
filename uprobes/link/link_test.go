package link

import (
	"fmt"
	"testing"
	"time"

	"sonde/kernel/attach"
	"sonde/linux/program"
)

func TestPath(t *testing.T) {
	for file, want := range map[string]string{"": "", "sh": "/bin/sh", "/lib/libc.so": "/lib/libc.so", "./a": "./a"} {
		if got := Path(file); got != want {
			t.Errorf("%q: %q, want %q", file, got, want)
		}
	}
}

// TestManyFunctions: those of a large program are found in no time, each name once.
func TestManyFunctions(t *testing.T) {
	var all []program.Symbol
	for i := range 400_000 {
		all = append(all, program.Symbol{Name: fmt.Sprintf("f%06d", i/2)})
	}
	begun := time.Now()
	if got := fitting(all, "f*"); len(got) != len(all)/2 {
		t.Errorf("%d functions", len(got))
	}
	if took := time.Since(begun); took > time.Minute {
		t.Errorf("it took %v", took)
	}
}

// TestBeginsDisabled: a link's probes used to be registered enabled, and to be disabled then.
func TestBeginsDisabled(t *testing.T) {
	for _, disabled := range []bool{false, true} {
		l := &attach.Link{Options: attach.Options{Disabled: disabled}}
		for _, s := range []attach.Site{{Kind: attach.Program, File: "sh"}, {Kind: attach.Program, File: "sh", Return: true}} {
			if u, rp := newProbe(&attach.Place{Link: l, Site: &s}, s); u.Disabled != disabled || (rp != nil) != s.Return {
				t.Errorf("%s: disabled is %v, %v", s, u.Disabled, rp)
			}
		}
	}
}
