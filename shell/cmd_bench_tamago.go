//go:build tamago

package shell

import "sonde/shell/bench"

var benchCommand = &Command{
	Name:  "bench",
	Usage: "[NAME|reg|scale]...",
	Help:  "measure what probes cost: TSV, name and nanoseconds",
	Run:   func(c *Context, args []string) error { return bench.Run(c.Out, args) },
}
