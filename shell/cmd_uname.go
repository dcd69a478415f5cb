package shell

import (
	"fmt"
	"strings"
)

var unameCommand = &Command{
	Name:    "uname",
	Usage:   "[-asnrvm]",
	Options: "asnrvm", Alone: true,
	Help: "print the name of the system (-a: everything about it)",
	Run:  uname,
}

func uname(c *Context, args []string) (err error) {
	if c.Machine.Uname == nil {
		return missing("uname")
	}
	u := c.Machine.Uname()
	var parts []string
	for _, p := range []struct {
		opt  byte
		text string
	}{{'s', u.System}, {'n', u.Node}, {'r', u.Release}, {'v', u.Version}, {'m', u.Machine}} {
		if c.Given(p.opt) || c.Given('a') || len(c.Opts) == 0 && p.opt == 's' {
			parts = append(parts, p.text)
		}
	}
	_, err = fmt.Fprintln(c.Out, strings.Join(parts, " "))
	return err
}
