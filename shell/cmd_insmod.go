package shell

import (
	"slices"

	"sonde/kernel/module"
)

var insmodCommand = &Command{
	Name:     "insmod",
	Usage:    "module [name=NAME] [parameter=value...]",
	Help:     "load a module (name=: under another name, so that it can be loaded again)",
	Run:      insmod,
	Complete: completeModule,
}

func insmod(c *Context, args []string) error {
	if len(args) == 0 {
		return Usagef("no module given")
	}
	return module.InsmodFrom(c.Shell.dir, args[0], args[1:]...)
}

// completeModule completes the name of a module, or after one its parameters.
func completeModule(_ *Shell, args []string) []string {
	var names []string
	all := module.Available()
	if len(args) <= 1 {
		for _, m := range all {
			names = append(names, m.Name)
		}
		return names
	}
	if i := slices.IndexFunc(all, func(m *module.Module) bool { return m.Name == args[0] }); i >= 0 {
		names = append(names, "name=")
		for _, name := range all[i].Parameters().Names() {
			names = append(names, name+"=")
		}
	}
	return names
}
