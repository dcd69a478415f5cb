//go:build tamago

package main

import (
	"sonde/optprobe/explain"
	"sonde/shell"
)

var explainCommand = &shell.Command{
	Name:  "explain",
	Usage: "SYMBOL[+OFFSET]",
	Help:  "what a probe there would be: breakpoint, step or jump, and why not",
	Run: func(c *shell.Context, args []string) error {
		if len(args) != 1 {
			return shell.Usagef("one place wanted")
		}
		return explain.Explain(c.Out, args[0])
	},
	Complete: func(s *shell.Shell, args []string) []string {
		if s.Symbols == nil {
			return nil
		}
		return s.Symbols(args[len(args)-1])
	},
}

func init() { extraCommands = append(extraCommands, explainCommand) }
