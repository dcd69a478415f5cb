package shell

import (
	"fmt"
	"strings"

	"sonde/shell/coreutils"
)

var unameCommand = &Command{
	Name:  "uname",
	Usage: "[-asnrvm]",
	Help:  "print the name of the system (-a: everything about it)",
	Run:   uname,
}

func uname(c *Context, args []string) error {
	opts, rest, err := coreutils.Options(args, "asnrvm")
	if err != nil {
		return err
	}
	if err := noArgs(rest); err != nil {
		return err
	}
	if c.Machine.Uname == nil {
		return missing("uname")
	}
	u := c.Machine.Uname()
	var parts []string
	for _, p := range []struct {
		opt  byte
		text string
	}{{'s', u.System}, {'n', u.Node}, {'r', u.Release}, {'v', u.Version}, {'m', u.Machine}} {
		if coreutils.Given(opts, p.opt) || coreutils.Given(opts, 'a') || len(opts) == 0 && p.opt == 's' {
			parts = append(parts, p.text)
		}
	}
	_, err = fmt.Fprintln(c.Out, strings.Join(parts, " "))
	return err
}
