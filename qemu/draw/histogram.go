package draw

import (
	"fmt"
	"io"
	"math"
)

// A Bucket counts values from Min to Max, both included, as bt -f json has them; nil: without a limit.
type Bucket struct {
	Min, Max *int64
	Count    int64 `json:"count"`
	Was      int64 `json:"-"` // in the histogram that this one is compared with
}

// Histogram is a picture of how often values are how large: a bar for each bucket.
type Histogram struct {
	Title    string
	Buckets  []Bucket // from the smallest on
	Compared bool     // Was has what it is compared with: an outline
}

// Sizes of histograms, in pixels, and how many bars there are at most.
const (
	histWide  = 640
	histLabel = 150
	histBar   = 380
	histRow   = 20
	mostBars  = 64
)

// SVG writes the picture as a file that needs nothing else, and Fragment as an element of a page that has ChartCSS.
func (h *Histogram) SVG(w io.Writer) error { return h.draw().write(w, true) }

// Fragment is described at SVG.
func (h *Histogram) Fragment(w io.Writer) error { return h.draw().write(w, false) }

func (h *Histogram) draw() *chart {
	bars, joined := h.bars()
	most, all := int64(0), int64(0)
	for _, b := range bars {
		most = max(most, b.Count, b.Was)
		all += b.Count
	}
	c := &chart{title: fmt.Sprintf("%s: %d values", h.Title, all), wide: histWide, high: histRow*(len(bars)+2) + 10}
	c.text(10, histRow-4, "title", h.Title)
	for i, b := range bars {
		y := float64(histRow*(i+1) + 4)
		wide := part(b.Count, most, histBar)
		says := fmt.Sprintf("%s: %d", b.label(), b.Count)
		if h.Compared {
			says += fmt.Sprintf(", before %d", b.Was)
		}
		c.text(histLabel-10, y+14, "end", b.label())
		c.box(histLabel, y+1, wide, histRow-4, "bar", says, "")
		end := wide
		if h.Compared {
			was := part(b.Was, most, histBar)
			c.add(`<rect x="%d" y="%.1f" width="%.1f" height="%d" class="was"/>`, histLabel, y+1, was, histRow-4)
			end = max(end, was)
		}
		c.text(histLabel+end+6, y+14, "", fmt.Sprint(b.Count))
	}
	foot := fmt.Sprintf("%d in all", all)
	if len(bars) == 0 {
		foot = "nothing has been counted"
	}
	if joined > 1 {
		foot += fmt.Sprintf("; a bar stands for %d buckets", joined)
	}
	if h.Compared {
		foot += "; the outline is what was before"
	}
	c.text(10, float64(c.high-8), "faint", foot)
	return c
}

// bars are the buckets, or if there are too many, as many neighbours as one.
func (h *Histogram) bars() (bars []Bucket, joined int) {
	joined = (len(h.Buckets) + mostBars - 1) / mostBars
	for i, b := range h.Buckets {
		if i%joined == 0 {
			bars = append(bars, b)
			continue
		}
		last := &bars[len(bars)-1]
		last.Max = b.Max
		last.Count += b.Count
		last.Was += b.Was
	}
	return bars, joined
}

// label names the values of a bucket as bt does.
func (b *Bucket) label() string {
	switch {
	case b.Min == nil && b.Max == nil:
		return "all"
	case b.Min == nil:
		return "(..., " + short(*b.Max+1) + ")"
	case b.Max == nil:
		return "[" + short(*b.Min) + ", ...)"
	case *b.Min == *b.Max:
		return "[" + short(*b.Min) + "]"
	}
	return "[" + short(*b.Min) + ", " + short(*b.Max+1) + ")"
}

// short writes whole multiples of powers of 1024 with K, M, G, T, P and E.
func short(n int64) string {
	if n == math.MinInt64 { // 1 << 63
		return "8E"
	}
	unit := ""
	for _, u := range []string{"K", "M", "G", "T", "P", "E"} {
		if n == 0 || n%1024 != 0 {
			break
		}
		n, unit = n/1024, u
	}
	return fmt.Sprint(n) + unit
}
