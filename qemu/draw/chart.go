package draw

import (
	_ "embed"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

// ChartCSS is what a page needs that shows histograms and time lines as fragments. Their colours are classes.
//
//go:embed chart.css
var ChartCSS string

// A chart is a picture of data that is being made.
type chart struct {
	title string // for people who cannot see it, too
	wide  int
	high  int
	body  strings.Builder
}

func (c *chart) add(format string, args ...any) { fmt.Fprintf(&c.body, format+"\n", args...) }

// text writes s, which may come from anywhere.
func (c *chart) text(x, y float64, class, s string) {
	if s != "" {
		c.add(`<text x="%.1f" y="%.1f" class="%s">%s</text>`, x, y, class, escape(s))
	}
}

// box draws a rectangle that says what it is when one points at it. more are attributes.
func (c *chart) box(x, y, w, h float64, class, says, more string) {
	c.add(`<g%s><title>%s</title><rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" class="%s"/></g>`, more, escape(says), x, y, w, h, class)
}

// write writes the picture: as an element of a page, or with its style as a file.
func (c *chart) write(w io.Writer, file bool) error {
	style := ""
	if file {
		style = "<style>\n" + ChartCSS + "</style>\n"
	}
	_, err := fmt.Fprintf(w, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" class="chart" role="img" aria-label="%s">
%s<rect width="100%%" height="100%%" class="paper"/>
%s</svg>
`, c.wide, c.high, c.wide, c.high, escape(c.title), style, c.body.String())
	return err
}

// part is as much of whole as n is of all that there is.
func part(n, of int64, whole float64) float64 { return float64(n) / float64(max(1, of)) * whole }

// Clean makes of text that may come from anywhere what can be shown: a dot stands for a control character that is not in
// keep, for one that turns the direction of text, and for what no file of XML may have.
func Clean(s, keep string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && !strings.ContainsRune(keep, r) || unicode.Is(unicode.Bidi_Control, r) || r == 0xfffe || r == 0xffff {
			return '.'
		}
		return r
	}, strings.ToValidUTF8(s, string(utf8.RuneError)))
}
