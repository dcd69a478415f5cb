//go:build tamago && ktest

package shell

import (
	"io"

	"sonde/qemu/suites"
	_ "sonde/qemu/suites/control"
	_ "sonde/qemu/suites/grace"
	_ "sonde/qemu/suites/handlers"
	_ "sonde/qemu/suites/hostile"
	_ "sonde/qemu/suites/jumpers"
	_ "sonde/qemu/suites/library"
	_ "sonde/qemu/suites/memory"
	_ "sonde/qemu/suites/optimized"
	_ "sonde/qemu/suites/probes"
	_ "sonde/qemu/suites/programs"
	_ "sonde/qemu/suites/returns"
	_ "sonde/qemu/suites/sched"
	_ "sonde/qemu/suites/stop"
	_ "sonde/qemu/suites/symbols"
	_ "sonde/qemu/suites/traps"
	_ "sonde/qemu/suites/uprobes"
	_ "sonde/qemu/suites/user"
	_ "sonde/qemu/suites/watch"
)

// ktestCommand runs the kernel's own tests; only images with tests have it.
var ktestCommand = &Command{
	Name:  "ktest",
	Usage: "[PATTERN...]",
	Help:  "run the kernel's tests: all, or those whose SUITE/CASE matches",
	Run: func(c *Context, args []string) error {
		m := &Machine{Programs: c.Machine.Programs}
		suites.Script = func(out io.Writer, line string) int { return New(m, out).Run(line) }
		suites.Programs = m.Programs
		if suites.Run(c.Out, args...) > 0 {
			return Status(1)
		}
		return nil
	},
}

func init() { builtins = append(builtins, ktestCommand) }
