package out

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"sonde/trace/lang"
)

// counted is what hist(value, bits) keeps of values.
func counted(bits int, values []int64) (lang.Type, *entry) {
	t, e := lang.Type{Kind: lang.Hist, Bits: bits, Signed: true}, &entry{}
	for _, v := range values {
		for i := 0; ; i++ {
			if low, high := lang.Bounds(t, i); v < high && (v >= low || i == 0) {
				e.count(i, 1)
				break
			}
		}
	}
	return t, e
}

// TestPercentiles: a percentile is as near to that of the values as it says, at all sizes of values.
func TestPercentiles(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		values := make([]int64, 1+r.IntN(300))
		for i := range values {
			values[i] = r.Int64N(1<<(1+r.IntN(20))) << r.IntN(20)
		}
		typ, e := counted(5, values)
		slices.Sort(values)
		for _, share := range shares {
			rank := (int64(len(values))*share.of + 999) / 1000
			want, got := values[rank-1], percentile(typ, e, share.of)
			if diff := max(got-want, want-got); diff*1000 > want*16 {
				t.Errorf("%s of %d values is %d, printed as %d", share.name, len(values), want, got)
			}
		}
	}
}

// TestPercentilesAreCounted: a percentile is of the last value that its share of all needs, at the edge between two values.
func TestPercentilesAreCounted(t *testing.T) {
	var values []int64
	for n := range int64(1000) {
		values = append(values, n/500) // half are 0, half are 1
	}
	typ, e := counted(5, values)
	for of, want := range map[int64]int64{500: 0, 501: 1, 999: 1, 1000: 1} {
		if got := percentile(typ, e, of); got != want {
			t.Errorf("%d of 1000: %d, want %d", of, got, want)
		}
	}
	typ, e = counted(5, []int64{-7, 20, 21})
	if a, b := percentile(typ, e, 300), percentile(typ, e, 500); a != -1 || b != 20 {
		t.Errorf("%d, %d", a, b)
	}
}

// TestPercentilesArePrinted: the histogram by powers of 2, and the line below it.
func TestPercentilesArePrinted(t *testing.T) {
	m := &lang.Map{Name: "@", Value: lang.Type{Kind: lang.Hist, Bits: 5, Signed: true}}
	index := func(v int64) string {
		for i := 0; ; i++ {
			if low, high := lang.Bounds(m.Value, i); v < high && v >= low {
				return string(binary.LittleEndian.AppendUint32(nil, uint32(i)))
			}
		}
	}
	s := tables{{index(20): pack(2), index(31): pack(1)}, {index(20): pack(1), index(1000): pack(1)}}
	got := printed(t, false, func(p *Printer) error { return p.Percentiles(m, s) })
	for _, want := range []string{"@:\n[16, 32)               4 |", "[512, 1K)              1 |", "|\np50    20\np90    1000\np99    1000\np99.9  1000\nmax    1000\n(each within 1.6 %)\n\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	got = printed(t, true, func(p *Printer) error { return p.Percentiles(m, s) })
	if want := `{"type": "percentiles", "data": {"@": {"p50": 20, "p90": 1000, "p99": 1000, "p99.9": 1000, "max": 1000}}}` + "\n"; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}
