package shell

import (
	"fmt"
	"slices"
	"syscall"

	"sonde/kernel/module"
	"sonde/kernel/refusal"
)

var modinfoCommand = &Command{
	Name:     "modinfo",
	Usage:    "module",
	Help:     "show a module and its parameters",
	Run:      modinfo,
	Complete: completeModule,
}

func modinfo(c *Context, args []string) error {
	if len(args) != 1 {
		return Usagef("give one module")
	}
	all := module.Available()
	i := slices.IndexFunc(all, func(m *module.Module) bool { return m.Name == args[0] })
	if i < 0 {
		return refusal.New(syscall.ENOENT, "no such module: %s", args[0])
	}
	m := all[i]
	fmt.Fprintf(c.Out, "name:        %s\ndescription: %s\n", m.Name, m.Doc)
	for _, name := range m.Params.Names() {
		p := m.Params[name]
		if _, err := fmt.Fprintf(c.Out, "parm:        %s: %s (%s, now %s)\n", name, p.Doc, p.Type, p.Value()); err != nil {
			return err
		}
	}
	return nil
}
