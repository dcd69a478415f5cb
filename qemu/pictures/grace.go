package main

import (
	"fmt"
	"slices"
	"strings"

	"sonde/qemu/draw"
)

// drawGrace draws the grace period before a jump as a time line: a lane for each CPU, with the moment at which it is
// seen to have passed a scheduling point. The period begins after the detour is there, and ends with the last of them.
func drawGrace(w way) *draw.Drawing {
	const left, wide, lane = 130, 620, 3 * draw.Row
	d := draw.New("A grace period, on two CPUs", 1080, "glass -o "+strings.TrimSuffix(w.Place, "+0x0")+": from the detour to the jump; time goes to the right, to scale")
	find := func(name string) int { return slices.IndexFunc(w.Steps, func(s step) bool { return s.Step == name }) }
	begins, over, jump := find("grace-begins"), find("grace-over"), find("stopping")
	if find("detour-made") < 0 || begins < 0 || over < begins || jump < over {
		return d // without words, which the test finds
	}
	first, last := w.Steps[find("detour-made")].T, w.Steps[jump].T
	x := func(t int64) int { return left + int((t-first)*wide/max(1, last-first)) }
	top := 30 + 8*draw.Row
	bottom := top + w.CPUs*lane
	d.Rect(x(w.Steps[begins].T), top-draw.Row, max(2, x(w.Steps[over].T)-x(w.Steps[begins].T)), bottom-top+draw.Row, "box")
	for _, m := range []struct {
		at, row int
		says    string
	}{{find("detour-made"), 3, "the detour is made: hits of the INT3 go there from now on"}, {begins, 2, "the grace period begins"}, {over, 1, "it is over: all CPUs have passed"}, {jump, 0, "the machine is stopped, and five bytes are written"}} {
		at, y := x(w.Steps[m.at].T), top-(m.row+2)*draw.Row
		d.Line(at, y+4, at, bottom, "life")
		d.Text(min(at+4, left+wide-170), y, "step", m.says)
	}
	for cpu := range w.CPUs {
		y := top + cpu*lane + draw.Row
		d.Text(20, y+4, "head", fmt.Sprintf("CPU %d", cpu))
		d.Line(left, y, left+wide, y, "line")
		for _, s := range w.Steps[begins:over] {
			if s.CPU != cpu || s.Step != "passed" {
				continue
			}
			d.Rect(x(s.T)-4, y-4, 8, 8, "dot")
			d.Text(min(x(s.T)+8, left+wide-150), y+draw.Row, "other", s.Says)
		}
	}
	y := bottom + draw.Row
	for _, line := range []string{"Before the period, a CPU may be anywhere: between two of the instructions that the jump will cover, too.",
		"At a scheduling point it is in none of them, and it comes there again only by the INT3, which leads to the detour."} {
		d.Text(20, y+draw.Row, "faint", line)
		y += draw.Row
	}
	d.Height = y + draw.Row
	return d
}
