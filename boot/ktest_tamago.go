//go:build tamago && ktest

package main

import (
	"sonde/qemu/suites"
	_ "sonde/qemu/suites/control"
	_ "sonde/qemu/suites/handlers"
	_ "sonde/qemu/suites/jumpers"
	_ "sonde/qemu/suites/memory"
	_ "sonde/qemu/suites/optimized"
	_ "sonde/qemu/suites/probes"
	_ "sonde/qemu/suites/returns"
	_ "sonde/qemu/suites/sched"
	_ "sonde/qemu/suites/stop"
	_ "sonde/qemu/suites/symbols"
	_ "sonde/qemu/suites/traps"
	"sonde/shell"
)

// ktestCommand runs the kernel's own tests; only images built for that have it.
var ktestCommand = &shell.Command{
	Name:  "ktest",
	Usage: "[PATTERN]",
	Help:  "run the kernel's tests, all or those whose SUITE/CASE fits",
	Run: func(c *shell.Context, args []string) error {
		pattern := ""
		switch len(args) {
		case 0:
		case 1:
			pattern = args[0]
		default:
			return shell.Usagef("one pattern")
		}
		if suites.Run(c.Out, pattern) > 0 {
			return shell.Status(1)
		}
		return nil
	},
}

func init() { extraCommands = append(extraCommands, ktestCommand) }
