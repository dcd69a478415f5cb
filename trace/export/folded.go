package export

import (
	"fmt"
	"io"
	"strings"

	"sonde/kallsyms"
	"sonde/trace/out"
)

// folded is a line for each stack, as flame graphs are made of: FRAME;FRAME;LEAF COUNT. The other parts of the
// key are the first frames.
type folded struct{ w io.Writer }

func (f *folded) Event(*Event) error           { return nil }
func (f *folded) Point(*out.SeriesPoint) error { return nil }
func (f *folded) Close() error                 { return nil }

func (f *folded) Stack(s *out.StackCount) error {
	clean := strings.NewReplacer(";", ":", "\n", " ")
	var frames []string
	for _, l := range s.Labels {
		frames = append(frames, clean.Replace(l))
	}
	for i := len(s.Frames) - 1; i >= 0; i-- {
		frames = append(frames, clean.Replace(frameName(s.Frames[i])))
	}
	_, err := fmt.Fprintf(f.w, "%s %d\n", strings.Join(frames, ";"), s.N)
	return err
}

// frameName is what a frame is called: a function; else a file or a mapping in brackets, or an address.
func frameName(n kallsyms.Named) string {
	if n.Function || n.File == "" || strings.HasPrefix(n.Name, "[") {
		return n.Name
	}
	return "[" + n.Name + "]"
}
