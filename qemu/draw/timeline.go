package draw

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"time"
)

// A Span lasts from From to Until in a lane, in ns; if both are the same, it is an event.
type Span struct {
	Lane        string
	Name, Says  string
	From, Until int64
	depth       int // of spans in the same lane around it
}

// Timeline is a picture of what happened when, a lane for each thread or CPU.
type Timeline struct {
	Title       string
	Spans       []Span
	From, Until int64 // what is drawn; both 0: everything
}

// Sizes of time lines, in pixels, and how much there is at most.
const (
	timeWide   = 1200
	timeLabel  = 200
	timeSpans  = timeWide - timeLabel - 20
	timeRow    = 18
	timeTop    = 50
	mostLanes  = 40
	mostDepth  = 8
	leastWidth = 2 // what is narrower is drawn together with its neighbours
)

// SVG writes the picture as a file that needs nothing else, and Fragment as an element of a page that has ChartCSS.
func (t *Timeline) SVG(w io.Writer) error { return t.draw().write(w, true) }

// Fragment is described at SVG.
func (t *Timeline) Fragment(w io.Writer) error { return t.draw().write(w, false) }

// A timeLane is the spans of a lane.
type timeLane struct {
	name  string
	spans []Span
	rows  int
}

func (t *Timeline) draw() *chart {
	from, until := t.limits()
	lanes, left := t.lanes(from, until)
	rows, spans := 0, 0
	for _, l := range lanes {
		rows += l.rows
		spans += len(l.spans)
	}
	took := time.Duration(until - from)
	c := &chart{title: fmt.Sprintf("%s: %d lanes, %d spans and events in %v", t.Title, len(lanes)+left, len(t.Spans), took), wide: timeWide}
	c.high = timeTop + rows*timeRow + 4*len(lanes) + 30
	c.text(10, 18, "title", t.Title)
	c.ruler(took, float64(c.high-28))
	y := float64(timeTop)
	for i, l := range lanes {
		high := float64(l.rows * timeRow)
		if i%2 == 0 {
			c.add(`<rect x="0" y="%.1f" width="%d" height="%.1f" class="band"/>`, y-2, timeWide, high+4)
		}
		c.text(10, y+13, "", cut(l.name, timeLabel-10))
		d := laneDrawing{chart: c, y: y, from: from, scale: timeSpans / float64(max(1, until-from))}
		d.lane(l.spans)
		y += high + 4
	}
	foot := fmt.Sprintf("%d spans and events in %v", spans, took)
	if spans == 0 {
		foot = "nothing has happened"
	}
	if left > 0 {
		foot += fmt.Sprintf("; %d lanes with fewer are not drawn", left)
	}
	c.text(10, float64(c.high-10), "faint", foot)
	return c
}

// limits is what is drawn.
func (t *Timeline) limits() (from, until int64) {
	if t.From != 0 || t.Until != 0 || len(t.Spans) == 0 {
		return t.From, max(t.From, t.Until)
	}
	from, until = t.Spans[0].From, t.Spans[0].Until
	for _, s := range t.Spans {
		from, until = min(from, s.From), max(until, s.Until)
	}
	return from, until
}

// lanes are those with the most spans from from to until, by name; left are not among them.
func (t *Timeline) lanes(from, until int64) (all []*timeLane, left int) {
	of := map[string]*timeLane{}
	for _, s := range t.Spans {
		if s.Until < from || s.From > until {
			continue
		}
		l := of[s.Lane]
		if l == nil {
			l = &timeLane{name: s.Lane}
			of[s.Lane] = l
			all = append(all, l)
		}
		l.spans = append(l.spans, s)
	}
	if len(all) > mostLanes {
		slices.SortStableFunc(all, func(a, b *timeLane) int { return cmp.Compare(len(b.spans), len(a.spans)) })
		all, left = all[:mostLanes], len(all)-mostLanes
	}
	slices.SortFunc(all, func(a, b *timeLane) int { return cmp.Compare(a.name, b.name) })
	for _, l := range all {
		l.nest()
	}
	return all, left
}

// nest puts spans below those in which they lie.
func (l *timeLane) nest() {
	slices.SortStableFunc(l.spans, func(a, b Span) int {
		return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(b.Until, a.Until))
	})
	var open []int64 // where those around end
	for i := range l.spans {
		s := &l.spans[i]
		for len(open) > 0 && open[len(open)-1] <= s.From && (s.Until > s.From || open[len(open)-1] < s.From) {
			open = open[:len(open)-1]
		}
		s.depth = min(len(open), mostDepth-1)
		l.rows = max(l.rows, s.depth+1)
		if s.Until > s.From {
			open = append(open, s.Until)
		}
	}
}

// A laneDrawing draws a lane.
type laneDrawing struct {
	*chart
	y     float64
	from  int64
	scale float64 // pixels per ns
}

// lane draws the spans. Those that are too narrow and have no gap between them are drawn as one, row by row.
func (d *laneDrawing) lane(spans []Span) {
	var crowds [mostDepth]struct {
		first    Span
		until    int64
		n        int
		from, to float64
	}
	flush := func(depth int) {
		switch g := &crowds[depth]; {
		case g.n == 1:
			d.span(&g.first, g.from, g.to)
			g.n = 0
		case g.n > 1:
			wide, y := max(leastWidth, g.to-g.from), d.y+float64(depth*timeRow)
			d.box(g.from, y+1, wide, timeRow-3, "many", fmt.Sprintf("%d spans and events, of which the first is %s", g.n, g.first.Name), lasts(g.first.From, g.until))
			d.text(g.from+3, y+13, "name", cut(fmt.Sprintf("%d together", g.n), wide))
			g.n = 0
		}
	}
	for _, s := range spans {
		from, to := d.x(s.From), d.x(s.Until)
		g := &crowds[s.depth]
		if g.n > 0 && (to-from >= leastWidth || from-g.to >= leastWidth) {
			flush(s.depth)
		}
		if to-from >= leastWidth {
			d.span(&s, from, to)
			continue
		}
		if g.n == 0 {
			g.first, g.from = s, from
		}
		g.n++
		g.to, g.until = to, s.Until
	}
	for depth := range crowds {
		flush(depth)
	}
}

// lasts are the attributes of what lasts from one time to another: by them, a page can ask for a picture of that alone.
func lasts(from, until int64) string {
	return fmt.Sprintf(` data-from="%d" data-until="%d"`, from, until)
}

// x is where a time is.
func (d *laneDrawing) x(at int64) float64 {
	return timeLabel + min(timeSpans, max(0, float64(at-d.from)*d.scale))
}

// span draws one, with as much of its name as fits.
func (d *laneDrawing) span(s *Span, from, to float64) {
	y := d.y + float64(s.depth*timeRow)
	class := "span"
	switch {
	case s.Until == s.From:
		class = "event"
	case s.depth%2 == 1:
		class = "deep"
	}
	says := fmt.Sprintf("%s, %v", s.Name, time.Duration(s.Until-s.From))
	if s.Says != "" {
		says += ": " + s.Says
	}
	wide := max(leastWidth, to-from)
	d.box(from, y+1, wide, timeRow-3, class, says, lasts(s.From, s.Until))
	d.text(from+3, y+13, "name", cut(s.Name, wide))
}

// ruler draws the times at the top, from 0 on, at round distances.
func (c *chart) ruler(took time.Duration, down float64) {
	if took <= 0 {
		return
	}
	step := time.Duration(1)
	for n := 0; took/step > 8; n++ { // 1, 2, 5, 10
		step = step * []time.Duration{2, 5, 2}[n%3] / []time.Duration{1, 2, 1}[n%3]
	}
	for at := time.Duration(0); at <= took; at += step {
		x := timeLabel + part(int64(at), int64(took), timeSpans)
		c.add(`<path d="M%.1f %dV%.1f" class="rule"/>`, x, timeTop-12, down)
		c.text(x+3, timeTop-8, "faint", at.String())
	}
}
