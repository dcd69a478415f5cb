//go:build tamago

// Package ktest is the commands of the tests that run in the kernel. Images with tests have them.
package ktest

import (
	"io"

	"sonde/qemu/suites"
	_ "sonde/qemu/suites/control"
	_ "sonde/qemu/suites/grace"
	_ "sonde/qemu/suites/handlers"
	_ "sonde/qemu/suites/jumpers"
	_ "sonde/qemu/suites/library"
	_ "sonde/qemu/suites/memory"
	_ "sonde/qemu/suites/optimized"
	_ "sonde/qemu/suites/probes"
	_ "sonde/qemu/suites/returns"
	_ "sonde/qemu/suites/sched"
	_ "sonde/qemu/suites/stop"
	_ "sonde/qemu/suites/symbols"
	_ "sonde/qemu/suites/traps"
	_ "sonde/qemu/suites/watch"
	"sonde/shell"
)

// Commands are the commands of an image with tests.
var Commands []*shell.Command

func init() { Commands = append(Commands, ktestCommand, proveCommand) }

// ktestCommand runs the kernel's own tests.
var ktestCommand = &shell.Command{
	Name:  "ktest",
	Usage: "[PATTERN...]",
	Help:  "run the kernel's tests: all, or those whose SUITE/CASE matches",
	Run: func(c *shell.Context, args []string) error {
		prepare(c)
		if suites.Run(c.Out, args...) > 0 {
			return shell.Status(1)
		}
		return nil
	},
}

// prepare gives the suites what they need of the shell.
func prepare(c *shell.Context) {
	m := &shell.Machine{Programs: c.Machine.Programs}
	suites.Script = func(out io.Writer, line string) int {
		s := shell.New(m, out)
		s.Register(Commands...)
		return s.Run(line)
	}
	preparePrograms(m)
}
