//go:build tamago

package shell

import (
	"errors"

	"sonde/shell/bench"
)

var benchCommand = &Command{
	Name:  "bench",
	Usage: "[NAME|reg|ureg|load|scale]...",
	Help:  "measure what probes cost; prints TSV: name, nanoseconds, least..greatest of nine runs",
	Run: func(c *Context, args []string) error {
		err := bench.Run(c.Out, args)
		if errors.Is(err, bench.ErrName) {
			return Usagef("%s", err.Error())
		}
		return err
	},
}
