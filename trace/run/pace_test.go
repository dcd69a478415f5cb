package run

import (
	"slices"
	"testing"
	"time"

	"sonde/trace/lang"
)

// TestPace: looks are rare after a second without records, and about once an interval where that alone makes some.
func TestPace(t *testing.T) {
	const ms = time.Millisecond
	for _, c := range []struct {
		providers []string
		intervals []time.Duration
		found     []bool // by which looks
		want      []time.Duration
	}{
		{[]string{"interval", "kprobe"}, []time.Duration{500 * ms}, []bool{false, true}, []time.Duration{period, period}},
		{[]string{"interval", "begin", "end"}, []time.Duration{500 * ms}, []bool{false, true, false, true}, []time.Duration{490 * ms, 490 * ms, period, 490 * ms}},
		{[]string{"interval"}, []time.Duration{500 * ms}, make([]bool, 6), []time.Duration{490 * ms, period, period, period, restPeriod, restPeriod}},
		{[]string{"interval", "interval"}, []time.Duration{2000 * ms, 3000 * ms}, []bool{false, true}, []time.Duration{restPeriod, restPeriod}},
		{[]string{"interval"}, []time.Duration{20 * ms}, []bool{false, true}, []time.Duration{restPeriod, restPeriod}},
	} {
		u := new(lang.Unit)
		for _, p := range c.providers {
			u.Actions = append(u.Actions, &lang.Action{Point: &lang.Point{Provider: p}})
		}
		p := paceOf(u, c.intervals)
		var got []time.Duration
		for _, found := range c.found {
			got = append(got, p.next(found))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%v each %v: %v, want %v", c.providers, c.intervals, got, c.want)
		}
	}
	p := pace{hits: true}
	for range quietFor / period {
		p.next(false)
	}
	if rare, often := p.next(false), p.next(true); rare != restPeriod || often != period {
		t.Errorf("%v after a quiet second, %v after a record", rare, often)
	}
}
