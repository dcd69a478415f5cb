package shell

import (
	"errors"

	"sonde/kernel/module"
)

var rmmodCommand = &Command{
	Name:  "rmmod",
	Usage: "name...",
	Help:  "unload modules",
	Run:   rmmod,
	Complete: func(*Shell, []string) []string {
		return loadedModules()
	},
}

// loadedModules returns the names under which modules are loaded.
func loadedModules() (names []string) {
	for _, s := range module.Loaded() {
		names = append(names, s.Name)
	}
	return names
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
