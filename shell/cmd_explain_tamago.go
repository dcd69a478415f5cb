//go:build tamago

package shell

import (
	"bytes"
	"strings"

	"sonde/arch/amd64/listing"
	"sonde/optprobe/explain"
)

var explainCommand = &Command{
	Name:  "explain",
	Usage: "[-s] SYMBOL[+OFFSET] | PROGRAM:SYMBOL[+OFFSET] | PROGRAM:OFFSET | -p PID ADDRESS",
	Help:  "show how a place in the kernel or a program would be probed, or why it cannot be (-s: short enough for a slide)",
	Run: func(c *Context, args []string) error {
		opts, args, err := Options(args, "sp:")
		if err != nil {
			return err
		}
		if len(args) != 1 {
			return Usagef("give one place")
		}
		pid, ofProcess := opts['p']
		name, where, ofFile := strings.Cut(args[0], ":")
		if has(opts, 's') && !ofProcess && !ofFile {
			return explain.Slide(c.Out, args[0])
		}
		var b bytes.Buffer
		switch {
		case ofProcess:
			err = explainAddress(c, &b, pid, args[0])
		case ofFile:
			path, missing := findProgram(name)
			if missing != nil {
				path = name // it may be a library
			}
			err = explainFile(&b, path, where)
		default:
			err = explain.Explain(&b, args[0])
		}
		if err != nil || !has(opts, 's') {
			c.Out.Write(b.Bytes())
			return err
		}
		return listing.Slide(c.Out, b.String())
	},
	Complete: func(s *Shell, args []string) []string {
		if s.Symbols == nil {
			return nil
		}
		return s.Symbols(args[len(args)-1])
	},
}
