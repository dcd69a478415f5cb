package run

import (
	"testing"
	"time"

	"sonde/trace/lang"
)

// TestLooksLessOftenWhenQuiet: only after a second without records, unless times alone make them.
func TestLooksLessOftenWhenQuiet(t *testing.T) {
	for _, c := range []struct {
		providers []string
		quiet     time.Duration
		want      time.Duration
	}{
		{[]string{"kprobe"}, 0, period}, {[]string{"kprobe"}, quietFor - 1, period}, {[]string{"kprobe"}, quietFor, restPeriod},
		{[]string{"interval", "begin", "end"}, 0, restPeriod}, {[]string{"interval", "kprobe"}, 0, period},
	} {
		s := &session{Options: &Options{Unit: new(lang.Unit)}}
		for _, p := range c.providers {
			s.Unit.Actions = append(s.Unit.Actions, &lang.Action{Point: &lang.Point{Provider: p}})
		}
		if got := s.pause(c.quiet); got != c.want {
			t.Errorf("%v, quiet for %v: %v, want %v", c.providers, c.quiet, got, c.want)
		}
	}
}
