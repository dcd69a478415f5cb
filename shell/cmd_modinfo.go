package shell

import (
	"fmt"
	"slices"

	"sonde/kernel/module"
)

var modinfoCommand = &Command{
	Name:  "modinfo",
	Usage: "name",
	Help:  "show a module, or a loaded instance, with its parameters",
	Run:   modinfo,
	Complete: func(*Shell, []string) []string {
		names := loadedModules()
		for _, m := range module.Available() {
			if !slices.Contains(names, m.Name) {
				names = append(names, m.Name)
			}
		}
		return names
	},
}

func modinfo(c *Context, args []string) error {
	if len(args) != 1 {
		return Usagef("give one name")
	}
	m, err := module.Lookup(args[0])
	if err != nil {
		return fmt.Errorf("%s: %w", args[0], err)
	}
	fmt.Fprintf(c.Out, "name:        %s\n", m.Name)
	if m.Name != m.Module.Name {
		fmt.Fprintf(c.Out, "module:      %s\n", m.Module.Name)
	}
	fmt.Fprintf(c.Out, "description: %s\n", m.Module.Doc)
	for _, name := range m.Params.Names() {
		p := m.Params[name]
		if _, err := fmt.Fprintf(c.Out, "parm:        %s: %s (%s, now %s)\n", name, p.Doc, p.Type, p.Value()); err != nil {
			return err
		}
	}
	return nil
}
