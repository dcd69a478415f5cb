package main

import (
	"fmt"
	"strings"

	"sonde/qemu/draw"
)

const (
	cell  = 230 // pixels for a part of a stack
	apart = 16
)

// functionAt is the function of a place: pkg.Name+0x26 file.go:1.
func functionAt(place string) string {
	name, _, _ := strings.Cut(place, "+")
	return name
}

// drawBack draws the stack of a call with a return probe: before the hit, after it, and in the return handler.
func drawBack(h hit) (*draw.Drawing, error) {
	var caller, trampoline, told string
	for _, f := range h.Frames {
		switch f.Stage {
		case "return-replaced":
			_, was, _ := strings.Cut(f.Says, " was ")
			caller = functionAt(was)
		case "trampoline":
			trampoline = functionAt(f.IP.Is)
		case "handler-entered":
			told = functionAt(f.IP.Is)
		}
	}
	if caller == "" || trampoline == "" || told == "" {
		return nil, fmt.Errorf("the record of a return probe has no return address, trampoline or handler: %+v", h.Frames)
	}
	probed := functionAt(h.Place)
	d := draw.New("A stack with a return probe", 3*(cell+apart)+20, "a return probe on "+probed+", called by "+caller)
	for i, c := range []struct{ when, class, word, below string }{
		{"at the call", "", "return to " + caller, ""},
		{"from the hit on", "trap", "return to " + trampoline, "frame of " + probed},
		{"in the return handler", "trap", "(popped by RET)", ""},
	} {
		x, y := 20+i*(cell+apart), 30+3*draw.Row
		d.Text(x, y, "", c.when)
		for _, row := range []struct{ class, says string }{{"faint", "frame of " + caller}, {c.class, c.word}, {"faint", c.below}} {
			y += draw.Row + 10
			if row.says != "" {
				d.Rect(x, y-18, cell, draw.Row+6, "box")
				d.Text(x+10, y, row.class, row.says)
			}
		}
	}
	x, y := 20+cell+apart, 30+9*draw.Row
	d.Text(x, y, "", "and the goroutine's list has")
	d.Rect(x, y+8, cell, 2*draw.Row+12, "band")
	d.Text(x+10, y+8+draw.Row, "", "return to "+caller)
	d.Text(x+10, y+8+2*draw.Row, "faint", "how far from the stack's top")
	x += cell + apart
	d.Text(x, y, "", "the handler is told IP in")
	d.Text(x, y+draw.Row+8, "jump", told)
	d.Text(x, y+2*draw.Row+8, "faint", "and the CPU continues there")
	d.Height = y + 4*draw.Row
	return d, nil
}
