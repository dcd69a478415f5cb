//go:build tamago && !noprobe

package shell

import (
	"errors"
	"strconv"

	"sonde/shell/bench"
	"sonde/shell/coreutils"
)

var benchCommand = &Command{
	Name:  "bench",
	Usage: "[-n runs] [NAME|reg|ureg|load|engine|events|scale]...",
	Help:  "measure what probes cost; prints TSV: name, nanoseconds, least..greatest of nine runs or -n",
	Run: func(c *Context, args []string) error {
		opts, args, err := coreutils.Options(args, "n:")
		if err != nil {
			return err
		}
		runs := 9
		if text, ok := opts['n']; ok {
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
