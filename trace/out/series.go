package out

import (
	"fmt"
	"strings"
	"time"

	"sonde/shell/paint"
	"sonde/trace/lang"
)

// interval is what all CPUs have kept of one interval of tseries().
type interval struct {
	value, count int64 // count: of the last value, when it was
}

// addInterval joins what a CPU has kept.
func (e *entry) addInterval(t lang.Type, value []byte) {
	if e.intervals == nil {
		e.intervals = map[int64]*interval{}
	}
	number := int64(word(value[lang.SeriesInterval:]))
	v, n := int64(word(value[lang.SeriesValue:])), int64(word(value[lang.SeriesCount:]))
	if n == 0 { // zero() was called
		return
	}
	i := e.intervals[number]
	switch {
	case i == nil:
		e.intervals[number] = &interval{v, n}
	case t.Agg == lang.Sum || t.Agg == lang.Avg:
		i.value, i.count = i.value+v, i.count+n
	case t.Agg == lang.Min && less(t, v, i.value), t.Agg == lang.Max && less(t, i.value, v), t.Agg == lang.Unknown && n > i.count:
		i.value, i.count = v, n
	}
}

// shown returns the numbers of the intervals from the first to the last that are shown.
func (e *entry) shown(t lang.Type) (first, last int64) {
	first, last = 0, -1
	for n := range e.intervals {
		if last < first || n > last {
			last = n
			first = n - t.High + 1
		}
	}
	oldest := last
	for n := range e.intervals {
		if n >= first {
			oldest = min(oldest, n)
		}
	}
	return oldest, max(last, oldest+t.High-1)
}

func (i *interval) shows(t lang.Type) int64 {
	if t.Agg == lang.Avg {
		return quotient(t, i.value, i.count)
	}
	return i.value
}

// plotWidth is how many columns a series has.
const plotWidth = 53

// series draws a line for each interval, with a mark between the smallest and the largest value.
func (p *Printer) series(t lang.Type, e *entry) string {
	if len(e.intervals) == 0 {
		return ""
	}
	first, last := e.shown(t)
	low, high := e.bounds(t, first)
	layout, name := clockLayout(t.Step)
	var b strings.Builder
	scale := fmt.Sprintf("%*s%*s\n", len(name)+2, number(t, low), plotWidth-1, number(t, high))
	fmt.Fprintf(&b, "%s%s |%s|\n", scale, name, strings.Repeat("_", plotWidth-2))
	for n := first; n <= last; n++ {
		at, value, columns := p.at(n*t.Step), "-", []byte("|"+strings.Repeat(" ", plotWidth-2)+"|")
		if i := e.intervals[n]; i != nil {
			columns[column(i.shows(t), low, high)] = '*'
			value = number(t, i.shows(t))
		}
		plot := strings.Replace(string(columns), "*", paint.Text(p.W, paint.Bar, "*"), 1)
		fmt.Fprintf(&b, "%s %s %s\n", at.Format(layout), plot, value)
	}
	fmt.Fprintf(&b, "%*sv%sv\n%s", len(name)+1, "", strings.Repeat("_", plotWidth-2), scale)
	return b.String()
}

// bounds are the smallest and the largest value from an interval on; if they are equal, as far around it as there are
// numbers.
func (e *entry) bounds(t lang.Type, first int64) (low, high int64) {
	low = e.intervals[first].shows(t)
	high = low
	for n, i := range e.intervals {
		switch v := i.shows(t); {
		case n < first:
		case less(t, v, low):
			low = v
		case less(t, high, v):
			high = v
		}
	}
	if low != high {
		return low, high
	}
	if less(t, low-1, low) {
		low--
	}
	if less(t, high, high+1) {
		high++
	}
	return low, high
}

// at is the time of an interval; of a map that plays the clock, since 1970.
func (p *Printer) at(ns int64) time.Time {
	if p.Unit.Settings.TimeMap != "" {
		return time.Unix(0, ns).UTC()
	}
	return p.Started.Add(time.Duration(ns))
}

func column(v, low, high int64) int {
	return int(float64(uint64(v-low)) / float64(uint64(high-low)) * (plotWidth - 1))
}

// clockLayout is how the time of an interval is written, and its head.
func clockLayout(step int64) (layout, name string) {
	switch {
	case step%1e9 == 0:
		return "15:04:05", "hh:mm:ss"
	case step%1e6 == 0:
		return "15:04:05.000", "hh:mm:ss.ms "
	case step%1e3 == 0:
		return "15:04:05.000000", "hh:mm:ss.us    "
	}
	return "15:04:05.000000000", "hh:mm:ss.ns       "
}

func (p *Printer) seriesJSON(t lang.Type, e *entry) string {
	if len(e.intervals) == 0 {
		return "[]"
	}
	var parts []string
	first, last := e.shown(t)
	for n := first; n <= last; n++ {
		at, value := p.at(n*t.Step), "null"
		if i := e.intervals[n]; i != nil {
			value = number(t, i.shows(t))
		}
		parts = append(parts, fmt.Sprintf(`{"interval_start": "%s", "value": %s}`, at.Format("2006-01-02 15:04:05.000000000"), value))
	}
	return "[" + strings.Join(parts, ", ") + "]"
}
