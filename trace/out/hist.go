package out

import (
	"fmt"
	"math"
	"strings"

	"sonde/shell/paint"
	"sonde/trace/lang"
)

// barWidth is how long the bar of the largest bucket is.
const barWidth = 52

// histogram prints the buckets from the first to the last that is not empty, with an empty line after
// them.
func (p *Printer) histogram(t lang.Type, counts []int64, div int) string {
	first, last, most := -1, 0, int64(0)
	for i, n := range counts {
		if n == 0 {
			continue
		}
		if first < 0 {
			first = i
		}
		last, most = i, max(most, n)
	}
	var b strings.Builder
	for i := max(0, first); i <= last; i++ {
		n := counts[i]
		long := int(n * barWidth / max(1, most))
		bar := paint.Text(p.W, paint.Bar, strings.Repeat("@", long)) + strings.Repeat(" ", barWidth-long)
		fmt.Fprintf(&b, "%-16s%8d |%s|\n", label(t, i), n/int64(max(1, div)), bar)
	}
	return b.String()
}

// label is the range of a bucket.
func label(t lang.Type, i int) string {
	low, high := lang.Bounds(t, i)
	switch {
	case i == 0:
		return "(..., " + short(high) + ")"
	case t.Kind == lang.Hist && high == low+1:
		return "[" + short(low) + "]"
	case t.Kind == lang.LHist && i == lang.Buckets(t)-1:
		return "[" + short(low) + ", ...)"
	}
	return "[" + short(low) + ", " + short(high) + ")"
}

// short writes whole multiples of powers of 1024 with K, M, G, T, P and E.
func short(n int64) string {
	const suffixes = "KMGTPE"
	if n == math.MinInt64 { // 1 << 63
		return "8E"
	}
	unit := -1
	for n != 0 && n%1024 == 0 && unit+1 < len(suffixes) {
		n /= 1024
		unit++
	}
	if unit < 0 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%d%c", n, suffixes[unit])
}

func histogramJSON(t lang.Type, counts []int64, div int) string {
	var parts []string
	for i, n := range counts {
		if n == 0 && len(parts) == 0 {
			continue
		}
		low, high := lang.Bounds(t, i)
		minimum, maximum := fmt.Sprintf(`"min": %d, `, low), fmt.Sprintf(`"max": %d, `, high-1)
		if i == 0 {
			minimum = ""
		}
		if t.Kind == lang.LHist && i == lang.Buckets(t)-1 {
			maximum = ""
		}
		parts = append(parts, fmt.Sprintf(`{%s%s"count": %d}`, minimum, maximum, n/int64(max(1, div))))
	}
	return "[" + strings.Join(parts, ", ") + "]"
}
