package main

import (
	"fmt"
	"slices"
	"strings"

	"sonde/qemu/draw"
)

// The lanes of a hit.
const (
	inCode = iota
	inTrap
	inHandler
	inCopy
	lanes
)

const (
	panel = 500 // pixels, the half of the picture
	lane  = 52
)

// laneOf says where the CPU is at each stage.
func laneOf(stage string) int {
	switch {
	case stage == "handler-entered":
		return inHandler
	case strings.HasPrefix(stage, "to-"):
		return inCopy
	case stage == "leaves":
		return inCode
	}
	return inTrap
}

// drawHits draws hits in two columns.
func drawHits(title string, hits ...hit) *draw.Drawing {
	d := &draw.Drawing{Title: title, Width: 2 * panel}
	for pair := range slices.Chunk(hits, 2) {
		y := d.Height + 30
		for i, h := range pair {
			d.Height = max(d.Height, drawSteps(d, i*panel, y, h))
		}
	}
	d.Height += draw.Row
	return d
}

// drawSteps draws h at x and y, and returns where it ends. The code is drawn in the colour of class.
func drawSteps(d *draw.Drawing, x, y int, h hit) int {
	class, copied := "trap", "slot"
	if h.Tier == "JUMP" {
		class, copied = "jump", "detour"
	}
	left := x + 30
	d.Text(left, y, class+" head", h.Tier)
	d.Text(left, y+draw.Row, "faint", fmt.Sprintf("%s, %s:%d", h.Place, h.File, h.Line))
	y += 3 * draw.Row
	d.Text(left, y, "faint", "before  "+h.Original[0].Bytes+"  "+h.Original[0].Asm)
	d.Text(left, y+draw.Row, class, "now     "+h.now())
	y += 3 * draw.Row
	for i, name := range [lanes]string{"code", "entry", "handler", copied} {
		d.Text(left+i*lane-int(float64(len(name))*draw.Letter/2), y, "faint", name)
	}
	top := y + draw.Row/2
	at := left
	y += draw.Row + draw.Row/2
	room := draw.Letters(float64(panel - 30 - lanes*lane))
	next := func(to int, says, more string) {
		d.Arrow(at, left+to*lane, y)
		at = left + to*lane
		y += 4
		for i, line := range append(draw.Wrap(says, room), draw.Wrap(more, room)...) {
			class := "faint"
			if i < len(draw.Wrap(says, room)) {
				class = ""
			}
			d.Text(left+lanes*lane-10, y, class, line)
			y += draw.Row
		}
	}
	for _, f := range h.Frames {
		more := ""
		if laneOf(f.Stage) == inCopy {
			more = strings.TrimSuffix(f.IP.Is+"  "+f.IP.Asm, "  ")
			if strings.Contains(f.IP.Is, "goes on") {
				more = "" // the last line says it
			}
		}
		next(laneOf(f.Stage), strings.NewReplacer(" replay.emptyPre", "", " replay.emptyPost", "").Replace(f.Says), more)
	}
	next(inCode, h.end(), "")
	for i := range lanes {
		d.Line(left+i*lane, top, left+i*lane, y-draw.Row, "life")
	}
	return y
}

// now is the code at the place while the probe is there: the bytes that are not the original's.
func (h *hit) now() string {
	was, is := strings.Fields(h.Original[0].Bytes), strings.Fields(h.Frames[0].Text)
	if is[0] == "e9" { // a jump, whose displacement is another in each build
		return is[0] + " .. .. .. ..  JMP to the detour"
	}
	return strings.Join(is[:len(was)], " ") + "  INT3"
}

// end says where the code continues.
func (h *hit) end() string {
	is := h.Frames[len(h.Frames)-1].IP.Is
	if _, at, ok := strings.Cut(is, "goes on at "); ok {
		return "goes on at " + at
	}
	if strings.HasPrefix(is, "slot of ") {
		return "goes on at " + h.after(length(h.Original[0].Bytes))
	}
	place, _, _ := strings.Cut(is, " ")
	return "goes on at " + place
}
