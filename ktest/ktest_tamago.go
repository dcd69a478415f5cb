//go:build tamago

// Package ktest is the commands of the tests that run in the kernel. Images with tests have them.
package ktest

import (
	"io"

	"sonde/ktest/suites"
	_ "sonde/ktest/suites/attach"
	_ "sonde/ktest/suites/bpf"
	_ "sonde/ktest/suites/control"
	_ "sonde/ktest/suites/glass"
	_ "sonde/ktest/suites/grace"
	_ "sonde/ktest/suites/handlers"
	_ "sonde/ktest/suites/jumpers"
	_ "sonde/ktest/suites/kprobes"
	_ "sonde/ktest/suites/library"
	_ "sonde/ktest/suites/memory"
	_ "sonde/ktest/suites/optimized"
	_ "sonde/ktest/suites/returns"
	_ "sonde/ktest/suites/ring"
	_ "sonde/ktest/suites/sched"
	_ "sonde/ktest/suites/stop"
	_ "sonde/ktest/suites/symbols"
	_ "sonde/ktest/suites/traps"
	_ "sonde/ktest/suites/watch"
	"sonde/shell"
)

// Commands are the commands of an image with tests.
var Commands []*shell.Command

func init() { Commands = append(Commands, ktestCommand, proveCommand) }

// ktestCommand runs the kernel's own tests.
var ktestCommand = &shell.Command{
	Name:  "ktest",
	Usage: "[-l] [[!]PATTERN...]",
	Help:  "run the kernel's tests: all, or those whose SUITE/CASE matches (!: does not); -l lists them",
	Run: func(c *shell.Context, args []string) error {
		if len(args) > 0 && args[0] == "-l" {
			return suites.List(c.Out, args[1:]...)
		}
		prepare(c)
		failed, err := suites.Run(c.Out, args...)
		if failed > 0 {
			return shell.Status(1)
		}
		return err
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
