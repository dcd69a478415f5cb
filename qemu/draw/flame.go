package draw

import (
	"cmp"
	"fmt"
	"html"
	"io"
	"math"
	"slices"
	"strings"

	_ "embed"
)

// A Frame is a call in stacks of a flame graph: as wide as what was counted in it and in what it called.
type Frame struct {
	Name   string
	Kind   Kind
	N, Was int64 // counted; by what it is compared with
	calls  map[string]*Frame
}

// Kind is whose code a frame is.
type Kind string

// Kinds, which have a colour each.
const (
	Kernel  Kind = "kernel"
	Program Kind = "program"
	Library Kind = "library"
	Idle    Kind = "idle"  // a CPU that has nothing to do
	Label   Kind = "label" // what stacks are counted by, as the name of a program
)

// Kinds are all kinds in the order in which the legend has them.
var Kinds = []Kind{Kernel, Program, Library, Idle, Label}

// call returns the frame that is called by f, and makes it if there is none.
func (f *Frame) call(name string, k Kind) *Frame {
	c := f.calls[name]
	if c == nil {
		c = &Frame{Name: name, Kind: k}
		if f.calls == nil {
			f.calls = map[string]*Frame{}
		}
		f.calls[name] = c
	}
	return c
}

// Count adds n to f and to the frames of a stack, whose first is called by f: of what is counted, or of what that is
// compared with.
func (f *Frame) Count(stack []Frame, n int64, before bool) {
	for at := f; ; stack = stack[1:] {
		if before {
			at.Was += n
		} else {
			at.N += n
		}
		if len(stack) == 0 {
			return
		}
		at = at.call(stack[0].Name, stack[0].Kind)
	}
}

// Sizes of flame graphs, in pixels.
const (
	flameWide = 1200
	flameRow  = 18
	flameTop  = 70  // the title, and what script writes there
	flameFoot = 46  // details and the legend
	narrowest = 0.1 // frames that are narrower are not drawn
)

// Flame is a flame graph of all that is called by root.
type Flame struct {
	Root     *Frame
	Title    string
	Unit     string // of what is counted, as "samples"
	Compared bool   // Was has what it is compared with: colours say whether a frame has grown
}

// FlameCSS and FlameJS are what a page needs that shows flame graphs as fragments, and calls flame(SVG, STATE) for each.
var (
	//go:embed flame.css
	FlameCSS string
	//go:embed flame.js
	FlameJS string
)

// SVG writes the picture as a file that needs nothing else: a click zooms, and a search marks.
func (f *Flame) SVG(w io.Writer) error {
	return f.write(w, "<style>"+FlameCSS+"</style>\n", "<script><![CDATA[\n"+FlameJS+"flame(document.currentScript.closest(\"svg\"));\n]]></script>\n")
}

// Fragment writes the picture as an element of a page that has FlameCSS and FlameJS.
func (f *Flame) Fragment(w io.Writer) error { return f.write(w, "", "") }

// write writes the picture, with what comes before and after it.
func (f *Flame) write(w io.Writer, style, script string) error {
	d := flameDrawing{Flame: f, floor: flameTop + f.Root.depth()*flameRow}
	d.frame(f.Root, 0, 0)
	high := d.floor + flameFoot
	_, err := fmt.Fprintf(w, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" class="flame" role="img" aria-label="%s">
%s<rect width="100%%" height="100%%" class="paper"/>
<text x="%d" y="26" class="title">%s</text>
<text x="10" y="52" class="button reset" tabindex="0">whole graph</text>
<text x="110" y="52" class="button search" tabindex="0">search</text>
<text x="%d" y="52" class="matched"></text>
<g class="frames">
%s</g>
<text x="10" y="%d" class="details"></text>
%s%s</svg>
`, flameWide, high, flameWide, high, escape(f.Title), style, flameWide/2, escape(f.Title), flameWide-10,
		d.boxes.String(), d.floor+18, d.legend(), script)
	return err
}

// HTML writes the picture as a page.
func (f *Flame) HTML(w io.Writer) error {
	if _, err := fmt.Fprintf(w, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>%s</title>\n<style>body { margin: 0 } svg { width: 100%%; height: auto }</style></head><body>\n", escape(f.Title)); err != nil {
		return err
	}
	if err := f.SVG(w); err != nil {
		return err
	}
	_, err := io.WriteString(w, "</body></html>\n")
	return err
}

func escape(s string) string { return html.EscapeString(Clean(s, "")) }

// depth is how many rows the frame and what it calls take.
func (f *Frame) depth() (most int) {
	for _, c := range f.calls {
		most = max(most, c.depth())
	}
	return most + 1
}

// sorted are the calls by name, so that two graphs can be compared by eye.
func (f *Frame) sorted() (all []*Frame) {
	for _, c := range f.calls {
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b *Frame) int { return cmp.Compare(a.Name, b.Name) })
	return all
}

// A flameDrawing is a picture that is being made.
type flameDrawing struct {
	*Flame
	boxes  strings.Builder
	floor  int // the lower edge of the first row
	narrow int // frames that are too narrow to be drawn
	gone   int64
}

// frame draws a frame and what it calls, above it. from is what was counted to its left.
func (d *flameDrawing) frame(at *Frame, depth int, from int64) {
	whole := float64(max(1, d.Root.N))
	wide := float64(at.N) / whole * flameWide
	switch {
	case at.N == 0 && at.Was > 0:
		d.gone += at.Was
		return
	case wide < narrowest:
		d.narrow++
		return
	}
	x, y := float64(from)/whole*flameWide, d.floor-(depth+1)*flameRow
	class, faint := d.colour(at)
	fmt.Fprintf(&d.boxes, `<g class="frame" data-x="%.6f" data-w="%.6f" data-n="%d" data-name="%s"><title>%s</title><rect x="%.2f" y="%d" width="%.2f" height="%d" class="%s"%s/><text x="%.2f" y="%d">%s</text></g>`+"\n",
		float64(from)/whole, float64(at.N)/whole, at.N, escape(at.Name), escape(d.says(at)), x, y, wide, flameRow-1, class, faint, x+3, y+flameRow-5, escape(cut(at.Name, wide)))
	for _, c := range at.sorted() {
		d.frame(c, depth+1, from)
		from += c.N
	}
}

// says is what is known of a frame, in words.
func (d *flameDrawing) says(at *Frame) string {
	text := fmt.Sprintf("%s: %d %s, %.2f %%", at.Name, at.N, d.Unit, 100*share(at.N, d.Root.N))
	if d.Compared {
		text += fmt.Sprintf("; before %d, %.2f %%", at.Was, 100*share(at.Was, d.Root.Was))
	}
	return text
}

func share(n, of int64) float64 { return float64(n) / float64(max(1, of)) }

// colour is the class of a frame: its kind, or whether its share has grown, and then how much.
func (d *flameDrawing) colour(at *Frame) (class, attribute string) {
	if !d.Compared {
		return string(at.Kind), ""
	}
	now, was := share(at.N, d.Root.N), share(at.Was, d.Root.Was)
	class = "grown"
	if now < was {
		class = "shrunk"
	}
	return class, fmt.Sprintf(` fill-opacity="%.2f"`, math.Abs(now-was)/max(now, was, 1e-9))
}

// cut is as much of a name as fits into so many pixels.
func cut(name string, wide float64) string {
	letters := []rune(name)
	switch n := Letters(wide - 6); {
	case n >= len(letters):
		return name
	case n < 3:
		return ""
	default:
		return string(letters[:n-2]) + ".."
	}
}

// legend says what the colours are, and what is not drawn.
func (d *flameDrawing) legend() string {
	var b strings.Builder
	colours := []string{"grown", "shrunk"}
	if !d.Compared {
		colours = colours[:0]
		for _, k := range Kinds {
			colours = append(colours, string(k))
		}
	}
	y := d.floor + flameFoot - 20
	for i, c := range colours {
		fmt.Fprintf(&b, `<rect x="%d" y="%d" width="12" height="12" class="%s"/><text x="%d" y="%d">%s</text>`+"\n", 10+i*90, y, c, 27+i*90, y+10, c)
	}
	var missing []string
	if d.narrow > 0 {
		missing = append(missing, fmt.Sprintf("%d frames are too narrow to be drawn", d.narrow))
	}
	if d.gone > 0 {
		missing = append(missing, fmt.Sprintf("%d %s of before are in frames that are gone", d.gone, d.Unit))
	}
	fmt.Fprintf(&b, `<text x="%d" y="%d" class="missing">%s</text>`+"\n", flameWide-10, y+10, escape(strings.Join(missing, "; ")))
	return b.String()
}
