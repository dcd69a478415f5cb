//go:build tamago && ktest

package shell

import (
	"errors"
	"io"

	"sonde/qemu/suites"
	"sonde/qemu/suites/prove"
)

// proveCommand is the part of the proof run that runs in the kernel; only images with tests have
// it.
var proveCommand = &Command{
	Name:  "prove",
	Usage: "functions|boundaries|wide|blacklist FROM TO | together | map | count",
	Help:  "probe all functions, or all instructions, and compare the results of the same work",
	Run: func(c *Context, args []string) error {
		m := &Machine{Programs: c.Machine.Programs}
		suites.Script = func(out io.Writer, line string) int { return New(m, out).Run(line) }
		err := prove.Run(c.Out, args)
		if errors.Is(err, prove.ErrUsage) {
			return Usagef("%v", err)
		}
		return err
	},
}

func init() { builtins = append(builtins, proveCommand) }
