package link

import (
	"testing"

	"sonde/probe/attach"
)

func TestPath(t *testing.T) {
	for file, want := range map[string]string{"": "", "sh": "/bin/sh", "/lib/libc.so": "/lib/libc.so", "./a": "./a"} {
		if got := Path(file); got != want {
			t.Errorf("%q: %q, want %q", file, got, want)
		}
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
