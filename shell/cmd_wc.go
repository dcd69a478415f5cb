package shell

import (
	"fmt"
	"strings"
)

var wcCommand = &Command{
	Name:  "wc",
	Usage: "[-lwc] [file...]",
	Help:  "count lines, words and bytes",
	Run:   wc,
}

func wc(c *Context, args []string) error {
	opts, files, err := Options(args, "lwc")
	if err != nil {
		return err
	}
	return eachInput(c, files, func(name, text string) error {
		var parts []string
		for _, n := range []struct {
			opt   byte
			count int
		}{{'l', strings.Count(text, "\n")}, {'w', len(strings.Fields(text))}, {'c', len(text)}} {
			if len(opts) == 0 || has(opts, n.opt) {
				parts = append(parts, fmt.Sprint(n.count))
			}
		}
		if name != "" {
			parts = append(parts, name)
		}
		_, err := fmt.Fprintln(c.Out, strings.Join(parts, " "))
		return err
	})
}
