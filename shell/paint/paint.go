// Package paint colours a few words of what is written to a terminal: bars, how probes are hit, and errors.
// Whoever writes says what a word is; whoever knows the writer says that it is a terminal.
package paint

import "io"

// Colour is a colour of eight that every terminal has, so that it is readable on light and dark ones.
//
// Source: ECMA-48, "SGR - Select Graphic Rendition".
type Colour string

// What has colours.
const (
	Bar     Colour = "36" // cyan
	Jump    Colour = "32" // green
	Trap    Colour = "33" // yellow
	Error   Colour = "31" // red
	Warning Colour = "35" // magenta
)

// terminal is a writer that shows colours.
type terminal struct{ io.Writer }

// On returns w as a terminal, for which Text gives colours.
func On(w io.Writer) io.Writer { return terminal{w} }

// Like returns b as a terminal if w is one: what is written to b is written to w later.
func Like(w, b io.Writer) io.Writer {
	if _, ok := w.(terminal); ok {
		return On(b)
	}
	return b
}

// Text is text that is to be written to w: in a colour if w is a terminal.
func Text(w io.Writer, c Colour, text string) string {
	if _, ok := w.(terminal); !ok || text == "" {
		return text
	}
	return "\x1b[" + string(c) + "m" + text + "\x1b[m"
}
