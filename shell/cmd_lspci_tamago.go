//go:build tamago

package shell

import (
	"fmt"

	"sonde/kernel/inspect"
	"sonde/kernel/pci"
	"sonde/kernel/vfs"
)

var lspciCommand = &Command{
	Name: "lspci", Usage: "[-v|-vv] [-n|-nn] [-x|-xxx] [-s [[BUS]:][SLOT][.FUNCTION]]",
	Help: "list PCI devices (-v, -vv: more details; -n, -nn: numbers; -x, -xxx: bytes; -s: one device); names of devices need /usr/share/misc/pci.ids",
	Run:  lspci, Options: "vnxs:", Alone: true,
}

func lspci(c *Context, _ []string) error {
	wanted, err := inspect.ParseSlot(c.Opts['s'])
	if err != nil {
		return Usagef("%s", err.Error())
	}
	names, err := deviceNames()
	if err != nil {
		return err
	}
	names.Numbers = min(len(c.Opts['n']), 2)
	bytes := 0
	switch n := len(c.Opts['x']); {
	case n > 2:
		bytes = pci.ConfigSize
	case n > 0:
		bytes = pci.HeaderSize
	}
	for _, d := range pci.All() {
		if !wanted.Has(d) {
			continue
		}
		if _, err := fmt.Fprint(c.Out, names.Show(d, d.Config(), len(c.Opts['v']), bytes)); err != nil {
			return err
		}
	}
	return nil
}

// deviceNames reads the names of devices, if the file with them exists.
func deviceNames() (*inspect.Names, error) {
	f, err := vfs.Root.Open("usr/share/misc/pci.ids")
	if err != nil {
		return new(inspect.Names), nil
	}
	defer f.Close()
	return inspect.ReadNames(f)
}
