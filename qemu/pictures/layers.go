package main

import (
	"slices"
	"strings"
)

const (
	label = 130 // pixels for a layer's name
	wide  = 880 // for its packages
	above = 10  // between two layers
)

// A layer is a line of layers.txt: NAME: PACKAGES < LAYERS.
type layer struct{ name, packages, below string }

// drawLayers draws the layers of the kernel, the lowest at the bottom.
func drawLayers(text string) *drawing {
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
	d := &drawing{title: "The layers of the tree", width: label + wide + 20}
	d.text(20, 30, "head", d.title)
	d.text(20, 30+row, "faint", "a package imports only from layers below its own: those that its layer names (internal/layers/layers.txt)")
	y := 30 + 2*row
	for _, l := range all {
		packages := wrap(l.packages, letters(wide-20))
		below := wrap(strings.TrimSpace("imports "+l.below), letters(wide-20))
		if l.below == "" {
			below = []string{"imports no other layer"}
		}
		h := (len(packages)+len(below))*row + 8
		d.rect(label, y, wide, h, "box")
		d.text(20, y+row-4, "head", l.name)
		for i, line := range append(packages, below...) {
			class := "faint"
			if i < len(packages) {
				class = "step"
			}
			d.text(label+10, y+(i+1)*row-4, class, line)
		}
		y += h + above
	}
	d.height = y
	return d
}
