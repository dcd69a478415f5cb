package export

import (
	"fmt"
	"io"
	"strings"

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
		frames = append(frames, clean.Replace(s.Frames[i]))
	}
	_, err := fmt.Fprintf(f.w, "%s %d\n", strings.Join(frames, ";"), s.N)
	return err
}
