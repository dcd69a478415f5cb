package listing

import (
	"fmt"
	"io"
	"strings"
)

// Height is how many lines a slide has.
const Height = 24

// Slide prints the part of a drawing that fits a slide, Height lines of Width columns, and says how
// many lines more there are.
func Slide(w io.Writer, drawing string) error {
	lines := strings.Split(strings.TrimSuffix(drawing, "\n"), "\n")
	if n := len(lines); n > Height {
		lines = append(lines[:Height-1], fmt.Sprintf("  .. %d lines more", n-Height+1))
	}
	for _, line := range lines {
		if _, err := fmt.Fprintln(w, Cut(line, Width)); err != nil {
			return err
		}
	}
	return nil
}
