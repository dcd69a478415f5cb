//go:build tamago

package shell

import "sonde/optprobe/explain"

var explainCommand = &Command{
	Name:  "explain",
	Usage: "SYMBOL[+OFFSET]",
	Help:  "what a probe there would be: breakpoint, step or jump, and why not",
	Run: func(c *Context, args []string) error {
		if len(args) != 1 {
			return Usagef("one place wanted")
		}
		return explain.Explain(c.Out, args[0])
	},
	Complete: func(s *Shell, args []string) []string {
		if s.Symbols == nil {
			return nil
		}
		return s.Symbols(args[len(args)-1])
	},
}
