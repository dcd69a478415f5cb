package main

import (
	"fmt"
	"slices"
	"strings"
	"time"
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
func drawWay(w way) *drawing {
	d := &drawing{title: "How an INT3 becomes a jump, and back", width: clock + w.CPUs*column + codes}
	d.text(20, 30, "head", fmt.Sprintf("%s, on %d processors", d.title, w.CPUs))
	d.text(20, 30+row, "faint", "glass -o "+strings.TrimSuffix(w.Place, "+0x0")+"; the times include the recording")
	y := 30 + 3*row
	for cpu := range w.CPUs {
		d.text(clock+cpu*column, y, "faint", fmt.Sprintf("CPU %d", cpu))
	}
	right := clock + w.CPUs*column
	d.text(right, y, "faint", "the code")
	y += row + row/2
	bands := []band{{"grace-begins", "grace-over", "grace period", 0}, {"stopping", "stop-over", "one CPU runs", 0}}
	var over drawing // is drawn upon the bands
	last := int64(0)
	for _, s := range w.Steps {
		if i := slices.IndexFunc(bands, func(b band) bool { return b.from == s.Step }); i >= 0 {
			bands[i].y = y - row + 4
			over.text(right, y, "faint", bands[i].says)
		}
		over.text(20, y, "faint", short(time.Duration(s.T-last)))
		last = s.T
		lines := wrap(s.Says, letters(column-20))
		for i, line := range lines {
			over.text(clock+s.CPU*column, y+i*row, s.class(), line)
		}
		if class, code := s.code(); code != "" {
			over.text(right, y, class, code)
		}
		y += len(lines)*row + 4
		if i := slices.IndexFunc(bands, func(b band) bool { return b.until == s.Step }); i >= 0 {
			d.rect(clock-8, bands[i].y, right+codes-20-clock, y-row-bands[i].y, "band")
		}
	}
	d.shapes.WriteString(over.shapes.String())
	d.height = y
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
	switch _, bytes, _ = strings.Cut(s.Says, "-> "); s.Step {
	case "poked":
	case "written":
		_, bytes, _ = strings.Cut(s.Says, "written: ")
	default:
		return "", ""
	}
	switch {
	case strings.HasPrefix(bytes, "cc"):
		return "trap", "cc ..  INT3"
	case strings.HasPrefix(bytes, "e9"):
		return "jump", "e9 ..  JMP"
	}
	return "step", bytes + " ..  as compiled"
}
