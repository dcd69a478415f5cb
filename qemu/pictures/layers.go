package main

import (
	"slices"
	"strings"

	"sonde/qemu/draw"
)

const (
	label = 130 // pixels for a layer's name
	wide  = 880 // for its packages
	above = 10  // between two layers
)

// A layer is a line of layers.txt: NAME: PACKAGES < LAYERS.
type layer struct{ name, packages, below string }

// drawLayers draws the layers of the kernel, the lowest at the bottom.
func drawLayers(text string) *draw.Drawing {
	var all []layer
	for line := range strings.Lines(text) {
		name, rest, ok := strings.Cut(strings.TrimSpace(line), ":")
		if !ok || strings.ContainsAny(name, " #") || name == "tests" {
			continue
		}
		packages, below, _ := strings.Cut(rest, "<")
		all = append(all, layer{name, packages, below})
	}
	slices.Reverse(all)
	d := &draw.Drawing{Title: "The layers of the tree", Width: label + wide + 20}
	d.Text(20, 30, "head", d.Title)
	d.Text(20, 30+draw.Row, "faint", "a package imports only from layers below its own: those that its layer names (internal/layers/layers.txt)")
	y := 30 + 2*draw.Row
	for _, l := range all {
		packages := draw.Wrap(l.packages, draw.Letters(wide-20))
		below := draw.Wrap(strings.TrimSpace("imports "+l.below), draw.Letters(wide-20))
		if l.below == "" {
			below = []string{"imports no other layer"}
		}
		h := (len(packages)+len(below))*draw.Row + 8
		d.Rect(label, y, wide, h, "box")
		d.Text(20, y+draw.Row-4, "head", l.name)
		for i, line := range append(packages, below...) {
			class := "faint"
			if i < len(packages) {
				class = "step"
			}
			d.Text(label+10, y+(i+1)*draw.Row-4, class, line)
		}
		y += h + above
	}
	d.Height = y
	return d
}
