//go:build tamago

package ktest

import (
	"errors"

	"sonde/ktest/suites/prove"
	"sonde/shell"
)

// proveCommand is the part of the proof run that runs in the kernel.
var proveCommand = &shell.Command{
	Name:  "prove",
	Usage: "functions|boundaries|wide|blacklist FROM TO | together | map | count",
	Help:  "probe all functions, or all instructions, and compare the results of the same work",
	Run: func(c *shell.Context, args []string) error {
		prepare(c)
		err := prove.Run(c.Out, args)
		if errors.Is(err, prove.ErrUsage) {
			return shell.Usagef("%v", err)
		}
		return err
	},
}
