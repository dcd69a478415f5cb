package shell

import (
	"io"
	"slices"
	"strings"
)

var tailCommand = &Command{
	Name:  "tail",
	Usage: "[-n lines] [file...]",
	Help:  "print the last lines",
	Run: func(c *Context, args []string) error {
		n, files, err := lineCount(args)
		if err != nil {
			return err
		}
		return eachInput(c, files, func(_, text string) error {
			lines := slices.Collect(strings.Lines(text))
			lines = lines[max(0, len(lines)-n):]
			_, err := io.WriteString(c.Out, strings.Join(lines, ""))
			return err
		})
	},
}
