package shell

import (
	"errors"

	"sonde/kernel/module"
)

var rmmodCommand = &Command{
	Name:  "rmmod",
	Usage: "module...",
	Help:  "unload modules",
	Run:   rmmod,
	Complete: func(*Shell, []string) []string {
		var names []string
		for _, m := range module.Loaded() {
			names = append(names, m.Name)
		}
		return names
	},
}

func rmmod(c *Context, args []string) error {
	if len(args) == 0 {
		return Usagef("no module given")
	}
	var errs []error
	for _, name := range args {
		errs = append(errs, module.Rmmod(name))
	}
	return errors.Join(errs...)
}
