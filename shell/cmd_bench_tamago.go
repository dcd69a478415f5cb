//go:build tamago && !noprobe

package shell

import (
	"errors"
	"strconv"

	"sonde/shell/bench"
)

var benchCommand = &Command{
	Name:    "bench",
	Usage:   "[-n runs] [NAME|reg|ureg|load|engine|events|scale]...",
	Options: "n:",
	Help:    "measure what probes cost; prints TSV: name, nanoseconds, least..greatest of nine runs or -n",
	Run: func(c *Context, args []string) (err error) {
		runs := 9
		if text, ok := c.Opts['n']; ok {
			if runs, err = strconv.Atoi(text); err != nil || runs < 1 {
				return Usagef("%q is not a number of runs", text)
			}
		}
		err = bench.Run(c.Out, runs, args)
		if errors.Is(err, bench.ErrName) {
			return Usagef("%s", err.Error())
		}
		return err
	},
}
