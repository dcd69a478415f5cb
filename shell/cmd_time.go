package shell

import (
	"fmt"
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
		status := c.again().Run(script(args))
		took := time.Since(began)
		fmt.Fprintf(c.Err, "real\t%dm%.3fs\n", took/time.Minute, (took % time.Minute).Seconds())
		if status == statusOK {
			return nil
		}
		return Status(status)
	},
}
