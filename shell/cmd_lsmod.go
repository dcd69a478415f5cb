package shell

import (
	"fmt"

	"sonde/kernel/module"
)

var lsmodCommand = &Command{
	Name:    "lsmod",
	Usage:   "[-a]",
	Options: "a", Alone: true,
	Help: "list the loaded modules (-a: all in the image)",
	Run:  lsmod,
}

func lsmod(c *Context, args []string) error {
	if c.Given('a') {
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
