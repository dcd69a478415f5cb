package shell

import (
	"fmt"
	"io"
	"time"
)

var timeCommand = &Command{
	Name:  "time",
	Usage: "command... | 'script'",
	Help:  "run a command and print how long it took",
	Run: func(c *Context, args []string) error {
		if len(args) == 0 {
			return Usagef("give a command")
		}
		began := time.Now()
		status := c.again().Run(scriptOf(args))
		printTook(c.Err, time.Since(began))
		return Status(status)
	},
}

func printTook(w io.Writer, took time.Duration) {
	fmt.Fprintf(w, "real\t%dm%.3fs\n", took/time.Minute, (took % time.Minute).Seconds())
}
