package main

import (
	"fmt"
	"time"

	"sonde/qemu/draw"
)

const (
	names = 220 // pixels for the names of stages
	scale = 320 // for the time
	ends  = 120 // for the figures
)

// drawBoot draws a bar for what leads to each stage. The clock counts an instruction as a nanosecond.
func drawBoot(stages []stage) *draw.Drawing {
	end := stages[len(stages)-1].at
	d := draw.New("The boot, from power-on to the prompt", names+scale+ends, "by instructions, on one processor; the first bar is the firmware and the loader")
	d.Height = (len(stages) + 6) * draw.Row
	d.Zoom = 1.6
	x := func(at time.Duration) int { return names + int(int64(scale)*int64(at)/int64(end)) }
	from := time.Duration(0)
	for i, s := range stages {
		y := 30 + (i+3)*draw.Row
		d.Text(20, y, "", fmt.Sprintf("%2d %s", i+1, s.name))
		d.Rect(x(from), y-11, max(x(s.at)-x(from), 1), 14, "bar")
		d.Text(x(s.at)+8, y, "faint", millions(s.at-from))
		from = s.at
	}
	y := 30 + (len(stages)+3)*draw.Row
	d.Line(names, y-4, names+scale, y-4, "line")
	d.Text(20, y, "", "all")
	d.Text(names+scale+8, y, "faint", millions(end))
	return d
}

// millions says how many instructions a time is.
func millions(t time.Duration) string { return fmt.Sprintf("%.1f million", float64(t)/1e6) }
