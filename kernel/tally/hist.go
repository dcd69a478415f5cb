package tally

import (
	"fmt"
	"io"
	"math/bits"
	"strings"
	"sync/atomic"
)

// A Hist counts values by their powers of two.
type Hist []buckets

// buckets are a CPU's, in cache lines of their own.
type buckets struct {
	n [65]atomic.Uint64 // 0, then [1, 2), [2, 4), [4, 8) …
	_ [56]byte
}

// NewHist makes an empty histogram for so many CPUs.
func NewHist(cpus int) Hist { return make(Hist, cpus) }

// Add counts v. Which CPU's part counts it makes no difference to the result.
//
// Context: any; it allocates nothing.
func (h Hist) Add(cpu int, v uint64) { h[cpu].n[bits.Len64(v)].Add(1) }

// sum adds up the CPUs.
func (h Hist) sum() (n [65]uint64) {
	for c := range h {
		for i := range n {
			n[i] += h[c].n[i].Load()
		}
	}
	return n
}

// Total is how many values were counted.
func (h Hist) Total() (total uint64) {
	for _, n := range h.sum() {
		total += n
	}
	return total
}

// Draw writes a line per power of two, from the least that was counted to the greatest,
// as bpftrace does.
func (h Hist) Draw(w io.Writer) {
	const width = 52
	first, last, most := -1, -1, uint64(0)
	n := h.sum()
	for i := range n {
		if n[i] == 0 {
			continue
		}
		if first < 0 {
			first = i
		}
		last, most = i, max(most, n[i])
	}
	if first < 0 {
		fmt.Fprintln(w, "nothing was counted")
		return
	}
	for i := first; i <= last; i++ {
		// The share first: a count times the width may be too large for a word.
		bar := int(float64(n[i]) / float64(most) * width)
		fmt.Fprintf(w, "%-16s %8d |%-*s|\n", span(i), n[i], width, strings.Repeat("@", bar))
	}
}

// span is the range of the i-th line.
func span(i int) string {
	switch i {
	case 0:
		return "[0]"
	case 1:
		return "[1]"
	case 64:
		return "[" + size(1<<63) + ", ...)"
	}
	return "[" + size(1<<(i-1)) + ", " + size(1<<i) + ")"
}

// size writes a power of two with the letters that people use.
func size(v uint64) string {
	const letters = " KMGTPE"
	i := (bits.Len64(v) - 1) / 10
	return strings.TrimSpace(fmt.Sprintf("%d%c", v>>(10*i), letters[i]))
}
