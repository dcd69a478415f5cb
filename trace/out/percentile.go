package out

import (
	"fmt"
	"strings"

	"sonde/bpf"
	"sonde/trace/lang"
)

// shares are the percentiles that are printed, in thousandths of all values.
var shares = [...]struct {
	name string
	of   int64
}{{"p50", 500}, {"p90", 900}, {"p99", 990}, {"p99.9", 999}, {"max", 1000}}

// Percentiles prints each histogram of a map by powers of 2, and below it the values that so many of all do not exceed.
// They are as exact as the map's buckets: a value is the middle of one.
func (p *Printer) Percentiles(m *lang.Map, s Store) error {
	all := p.gather(m, s)
	p.sort(m, all)
	coarse := m.Value
	coarse.Bits = 0
	if p.JSON {
		return p.percentilesJSON(m, all)
	}
	for _, e := range all {
		title := m.Name + brackets(p.printed(m, e))
		if err := p.text("%s:\n%s%s\n", title, p.histogram(coarse, merged(m.Value, e.counts), 0), percentiles(m.Value, e)); err != nil {
			return err
		}
	}
	return nil
}

// percentiles are the lines of an entry.
func percentiles(t lang.Type, e *entry) string {
	var b strings.Builder
	for _, share := range shares {
		fmt.Fprintf(&b, "%-6s %d\n", share.name, percentile(t, e, share.of))
	}
	return b.String() + fmt.Sprintf("(each within %s %%)\n", tenths(inexact(t)))
}

func (p *Printer) percentilesJSON(m *lang.Map, all []*entry) error {
	parts := make([]string, len(all))
	for i, e := range all {
		values := make([]string, len(shares))
		for k, share := range shares {
			values[k] = fmt.Sprintf("%s: %d", Quote(share.name), percentile(m.Value, e, share.of))
		}
		parts[i] = "{" + strings.Join(values, ", ") + "}"
		if keys := p.keys(m, e); len(keys) > 0 {
			parts[i] = Quote(strings.Join(keys, ",")) + ": " + parts[i]
		}
	}
	data := strings.Join(parts, ", ")
	if len(m.Key) > 0 || data == "" {
		data = "{" + data + "}"
	}
	return p.object("percentiles", "{"+Quote(m.Name)+": "+data+"}")
}

// percentile is the value that a share of all does not exceed, in thousandths; -1: it is below 0.
func percentile(t lang.Type, e *entry, of int64) int64 {
	rank, n := (e.n[0]*of+999)/1000, int64(0)
	for i, c := range e.counts {
		if n += c; n >= rank && c > 0 {
			low, high := lang.Bounds(t, i)
			return low + (high-low)/2
		}
	}
	return 0
}

// inexact is by how much the middle of a bucket may be wrong, in tenths of a percent of the value, rounded up.
func inexact(t lang.Type) int { return (500 + 1<<t.Bits - 1) >> t.Bits }

func tenths(n int) string { return fmt.Sprintf("%d.%d", n/10, n%10) }

// merged are the counts by powers of 2.
func merged(t lang.Type, counts []int64) []int64 {
	by := make([]int64, bpf.HistBuckets)
	for i, n := range counts {
		low, _ := lang.Bounds(t, i)
		by[bpf.Bucket(low)] += n
	}
	return by
}
