package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"sonde/qemu/draw"
)

const (
	clock  = 100 // pixels for the times
	column = 330 // for a CPU
	codes  = 160 // for the code
)

// A band is what lasts from one step to another.
type band struct {
	from, until, says string
	y                 int // where it has begun
}

// drawWay draws the steps from the top to the bottom, each at its CPU, and the code as it is from then on.
func drawWay(w way) *draw.Drawing {
	d := &draw.Drawing{Title: "How an INT3 becomes a jump, and back", Width: clock + w.CPUs*column + codes}
	d.Text(20, 30, "head", fmt.Sprintf("%s, on %d processors", d.Title, w.CPUs))
	d.Text(20, 30+draw.Row, "faint", "glass -o "+strings.TrimSuffix(w.Place, "+0x0")+"; the times include the recording")
	y := 30 + 3*draw.Row
	for cpu := range w.CPUs {
		d.Text(clock+cpu*column, y, "faint", fmt.Sprintf("CPU %d", cpu))
	}
	right := clock + w.CPUs*column
	d.Text(right, y, "faint", "the code")
	y += draw.Row + draw.Row/2
	bands := []band{{"grace-begins", "grace-over", "grace period", 0}, {"stopping", "stop-over", "one CPU runs", 0}}
	var over draw.Drawing // is drawn upon the bands
	last := int64(0)
	for _, s := range w.Steps {
		if i := slices.IndexFunc(bands, func(b band) bool { return b.from == s.Step }); i >= 0 {
			bands[i].y = y - draw.Row + 4
			over.Text(right, y, "faint", bands[i].says)
		}
		over.Text(20, y, "faint", short(time.Duration(s.T-last)))
		last = s.T
		lines := draw.Wrap(s.Says, draw.Letters(column-20))
		for i, line := range lines {
			over.Text(clock+s.CPU*column, y+i*draw.Row, s.class(), line)
		}
		if class, code := s.code(); code != "" {
			over.Text(right, y, class, code)
		}
		y += len(lines)*draw.Row + 4
		if i := slices.IndexFunc(bands, func(b band) bool { return b.until == s.Step }); i >= 0 {
			d.Rect(clock-8, bands[i].y, right+codes-20-clock, y-draw.Row-bands[i].y, "band")
		}
	}
	d.Draw(&over)
	d.Height = y
	return d
}

// short is a time since the step before.
func short(t time.Duration) string {
	if t >= 10*time.Millisecond {
		return fmt.Sprintf("+%d ms", t.Milliseconds())
	}
	return fmt.Sprintf("+%d us", t.Microseconds())
}

// class is that of the step: what other CPUs do depends on what they were doing.
func (s *step) class() string {
	if slices.Contains([]string{"serialized", "passed", "held", "let-go"}, s.Step) {
		return "other"
	}
	return "step"
}

// code is the code's first bytes after the step, if it changes them, and the colour.
func (s *step) code() (class, bytes string) {
	switch {
	case s.Text == "":
		return "", ""
	case strings.HasPrefix(s.Text, "cc"):
		return "trap", "cc ..  INT3"
	case strings.HasPrefix(s.Text, "e9"):
		return "jump", "e9 ..  JMP"
	}
	return "step", s.Text + " ..  as compiled"
}
