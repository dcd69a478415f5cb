package shell

import (
	"fmt"

	"sonde/kernel/module"
	"sonde/shell/coreutils"
)

var lsmodCommand = &Command{
	Name:  "lsmod",
	Usage: "[-a]",
	Help:  "list the loaded modules (-a: all in the image)",
	Run:   lsmod,
}

func lsmod(c *Context, args []string) error {
	opts, rest, err := coreutils.Options(args, "a")
	if err != nil {
		return err
	}
	if err := noArgs(rest); err != nil {
		return err
	}
	if coreutils.Given(opts, 'a') {
		for _, m := range module.Available() {
			if _, err := fmt.Fprintf(c.Out, "%-23s %s\n", m.Name, m.Doc); err != nil {
				return err
			}
		}
		return nil
	}
	fmt.Fprintln(c.Out, "Name                    Module")
	for _, s := range module.Loaded() {
		if _, err := fmt.Fprintf(c.Out, "%-23s %s\n", s.Name, s.Module.Name); err != nil {
			return err
		}
	}
	return nil
}
