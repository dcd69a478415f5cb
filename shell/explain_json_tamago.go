//go:build tamago && !noprobe

package shell

import (
	"strconv"
	"strings"

	"sonde/optprobe/explain"
	"sonde/trace/out"
)

// explainLines prints as JSON what probes on the lines of a function would be, or on those of FILE.go:LINE or
// FILE.go:FIRST-LAST.
func explainLines(c *Context, what string) error {
	file, numbers, isFile := strings.Cut(what, ".go:")
	var s explain.Source
	var err error
	if isFile {
		from, to, several := strings.Cut(numbers, "-")
		if !several {
			to = from
		}
		first, err1 := strconv.Atoi(from)
		last, err2 := strconv.Atoi(to)
		if err1 != nil || err2 != nil || first < 1 || last < first {
			return Usagef("-j takes lines as 24-45, not %q", numbers)
		}
		s, err = explain.Lines(file+".go", first, last)
	} else {
		s, err = explain.FunctionLines(what)
	}
	if err != nil {
		return err
	}
	return s.WriteJSON(c.Out, out.Quote)
}
