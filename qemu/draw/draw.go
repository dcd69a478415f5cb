// Package draw makes pictures: shapes whose colours come from a palette, as SVG.
package draw

import (
	"cmp"
	"fmt"
	"html"
	"math"
	"strings"
)

// A Palette is the colours of a page.
type Palette struct {
	Suffix                                   string // of the file's name
	paper, ink, faint, band, trap, jump, box string
	bar                                      string // what is as long as something is much
}

// Palettes are for light pages and for dark ones.
var Palettes = []Palette{
	{"", "#ffffff", "#1f2328", "#6e7781", "#f0f3f6", "#c4420a", "#1a7f37", "#ddf4ff", "#54aeff"},
	{"-dark", "#0d1117", "#e6edf3", "#8b949e", "#1c2128", "#f0883e", "#3fb950", "#0c2d4a", "#1f6feb"},
}

// Sizes of text, in pixels.
const (
	Row    = 20  // a line
	Letter = 7.3 // a letter
)

// A Drawing is shapes whose colours come from a palette, by their class.
type Drawing struct {
	Title         string
	Width, Height int
	Zoom          float64 // how large it is shown; 0: as it is
	shapes        strings.Builder
}

// New returns a drawing that begins with its title, and what is said of it below that.
func New(title string, width int, below string) *Drawing {
	d := &Drawing{Title: title, Width: width}
	d.Text(20, 30, "head", title)
	d.Text(20, 30+Row, "faint", below)
	return d
}

// add writes elements of SVG.
func (d *Drawing) add(format string, args ...any) { fmt.Fprintf(&d.shapes, format+"\n", args...) }

// Text writes s. Of several classes, the first is its colour.
func (d *Drawing) Text(x, y int, class, s string) {
	d.add(`<text x="%d" y="%d" class="%s">%s</text>`, x, y, class, html.EscapeString(s))
}

// Rect draws a rectangle with round corners.
func (d *Drawing) Rect(x, y, w, h int, class string) {
	d.add(`<rect x="%d" y="%d" width="%d" height="%d" rx="3" class="%s"/>`, x, y, w, h, class)
}

// Line draws a straight one.
func (d *Drawing) Line(x1, y1, x2, y2 int, class string) {
	d.add(`<path d="M%d %dL%d %d" class="%s"/>`, x1, y1, x2, y2, class)
}

// Arrow draws a horizontal one, or a dot if it leads nowhere.
func (d *Drawing) Arrow(x1, x2, y int) {
	const head = 6
	back := head
	if x2 < x1 {
		back = -head
	}
	if x1 == x2 {
		d.add(`<circle cx="%d" cy="%d" r="3" class="dot"/>`, x1, y)
		return
	}
	d.Line(x1, y, x2, y, "line")
	d.add(`<path d="M%d %dL%d %dL%d %dZ" class="dot"/>`, x2, y, x2-back, y-head/2, x2-back, y+head/2)
}

// Leads draws an arrow.
func (d *Drawing) Leads(x1, y1, x2, y2 int) {
	const head = 9
	dx, dy := float64(x2-x1), float64(y2-y1)
	long := math.Hypot(dx, dy)
	dx, dy = head*dx/long, head*dy/long
	d.Line(x1, y1, x2, y2, "line")
	d.add(`<path d="M%d %dL%.1f %.1fL%.1f %.1fZ" class="dot"/>`, x2, y2,
		float64(x2)-dx-dy/2, float64(y2)-dy+dx/2, float64(x2)-dx+dy/2, float64(y2)-dy-dx/2)
}

// Draw draws what is in another drawing, over what is there.
func (d *Drawing) Draw(over *Drawing) { d.shapes.WriteString(over.shapes.String()) }

// SVG is the file, in the colours of p.
func (d *Drawing) SVG(p Palette) []byte {
	var b strings.Builder
	zoom := cmp.Or(d.Zoom, 1)
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" xml:space="preserve" viewBox="0 0 %d %d" width="%.0f" height="%.0f" role="img" aria-label="%s">`+"\n",
		d.Width, d.Height, zoom*float64(d.Width), zoom*float64(d.Height), html.EscapeString(d.Title))
	fmt.Fprintf(&b, `<style>
text { font: 12px ui-monospace, Menlo, Consolas, monospace; fill: %[2]s }
.paper { fill: %[1]s } .faint, .other { fill: %[3]s } .head { font-weight: bold } .trap { fill: %[5]s } .jump { fill: %[6]s }
.band { fill: %[4]s } .box { fill: %[7]s } .bar { fill: %[8]s } .dot { fill: %[2]s } .line { stroke: %[2]s; fill: none } .life { stroke: %[3]s; stroke-dasharray: 2 3; fill: none }
</style>
`, p.paper, p.ink, p.faint, p.band, p.trap, p.jump, p.box, p.bar)
	fmt.Fprintf(&b, `<rect width="%d" height="%d" class="paper"/>`+"\n", d.Width, d.Height)
	b.WriteString(d.shapes.String())
	b.WriteString("</svg>\n")
	return []byte(b.String())
}

// Letters is how many fit into so many pixels.
func Letters(width float64) int { return int(width / Letter) }

// Wrap breaks s into lines of at most n letters, between words.
func Wrap(s string, n int) (lines []string) {
	for _, word := range strings.Fields(s) {
		if last := len(lines) - 1; last >= 0 && len(lines[last])+1+len(word) <= n {
			lines[last] += " " + word
		} else {
			lines = append(lines, word)
		}
	}
	return lines
}
