package main

import (
	"fmt"
	"strconv"
	"strings"

	"sonde/qemu/draw"
)

const (
	byteWide = 34 // pixels for a byte
	named    = 150
	rowHigh  = 3 * draw.Row
)

// length is how many bytes an instruction has.
func length(bytes string) int { return len(strings.Fields(bytes)) }

// drawBytes draws bytes as boxes, from byte number at on.
func drawBytes(d *draw.Drawing, y, at int, bytes, class string) {
	for i, b := range strings.Fields(bytes) {
		x := named + (at+i)*byteWide
		d.Rect(x+1, y-15, byteWide-2, 22, "band")
		d.Text(x+10, y, class, b)
	}
}

// span draws a line below some bytes, and says what they are.
func span(d *draw.Drawing, y, at, n int, class, says string) {
	d.Line(named+at*byteWide+3, y-12, named+(at+n)*byteWide-3, y-12, "line")
	d.Text(named+at*byteWide+3, y+4, class, says)
}

// before draws the instructions at the place as they were, and returns how many bytes they have.
func (h *hit) before(d *draw.Drawing, y int) (n int) {
	d.Text(20, y, "", "before")
	for _, o := range h.Original {
		drawBytes(d, y, n, o.Bytes, "")
		span(d, y+draw.Row+6, n, length(o.Bytes), "faint", o.Asm)
		n += length(o.Bytes)
	}
	return n
}

// drawCopy draws the instruction that a breakpoint replaces, and its copy in the slot.
func drawCopy(h hit) *draw.Drawing {
	d := draw.New("An instruction, and its copy in a slot", named+16*byteWide, fmt.Sprintf("%s, %s:%d", h.Place, h.File, h.Line))
	y := 30 + 3*draw.Row
	h.before(d, y)
	first := length(h.Original[0].Bytes)
	y += rowHigh
	d.Text(20, y, "", "now")
	now := strings.Fields(h.Frames[0].Text)
	drawBytes(d, y, 0, now[0], "trap")
	drawBytes(d, y, 1, strings.Join(now[1:first], " "), "faint")
	span(d, y+draw.Row+6, 0, first, "trap", "INT3; the rest is not executed")
	y += rowHigh
	d.Text(20, y, "", "the slot")
	for _, f := range h.Frames {
		if strings.HasPrefix(f.Stage, "to-") {
			slot := strings.Fields(f.IP.Bytes)
			drawBytes(d, y, 0, strings.Join(slot[:first], " "), "")
			span(d, y+draw.Row+6, 0, first, "", "the copy")
			drawBytes(d, y, first, slot[first]+" .. .. .. ..", "jump")
			span(d, y+draw.Row+6, first, 5, "jump", "JMP to "+h.after(first))
		}
	}
	d.Height = y + rowHigh
	return d
}

// after is the place n bytes further.
func (h *hit) after(n int) string {
	name, offset, _ := strings.Cut(h.Place, "+")
	at, _ := strconv.ParseInt(offset, 0, 64) // as glass prints it
	return fmt.Sprintf("%s+%#x", name, int(at)+n)
}

// drawRegion draws what a jump covers.
func drawRegion(h hit) *draw.Drawing {
	d := draw.New("The region that a jump covers", named+16*byteWide, fmt.Sprintf("%s, %s:%d", h.Place, h.File, h.Line))
	y := 30 + 3*draw.Row
	all := h.before(d, y)
	y += rowHigh
	d.Text(20, y, "", "with a jump")
	now := strings.Fields(h.Frames[0].Text)
	drawBytes(d, y, 0, now[0]+" .. .. .. ..", "jump")
	drawBytes(d, y, 5, strings.Join(now[5:all], " "), "faint")
	y += draw.Row + 6
	span(d, y, 1, 4, "trap", "no jump may end here")
	y += draw.Row + 6
	span(d, y, 0, all, "", "the region: it runs as a copy in the detour")
	y += rowHigh - draw.Row
	d.Text(20, y, "", "the detour")
	d.Text(named, y, "", "saves the registers, calls the handlers, restores the registers,")
	d.Text(named, y+draw.Row, "", "runs the copy, and "+h.end())
	d.Height = y + 2*draw.Row
	return d
}
