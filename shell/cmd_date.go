package shell

import (
	"fmt"
	"time"
)

var dateCommand = &Command{
	Name:  "date",
	Usage: "[+%s]",
	Help:  "print the time (+%s: in seconds since 1970)",
	Run:   date,
}

func date(c *Context, args []string) error {
	if c.Machine.Now == nil {
		return missing("clock")
	}
	now := c.Machine.Now()
	var err error
	switch {
	case len(args) == 0:
		_, err = fmt.Fprintln(c.Out, now.Format(time.UnixDate))
	case len(args) == 1 && args[0] == "+%s":
		_, err = fmt.Fprintln(c.Out, now.Unix())
	default:
		return Usagef("the only known format is +%%s")
	}
	return err
}
