//go:build tamago

package shell

import (
	"fmt"

	"sonde/kernel/inspect"
	"sonde/kernel/vfs"
	"sonde/shell/coreutils"
)

var lspciCommand = &Command{
	Name: "lspci", Usage: "[-v|-vv] [-n|-nn] [-x|-xxx] [-s [[BUS]:][SLOT][.FUNCTION]]",
	Help: "list PCI devices (-v, -vv: more details; -n, -nn: numbers; -x, -xxx: bytes; -s: one device); names of devices need /usr/share/misc/pci.ids",
	Run:  lspci,
}

func lspci(c *Context, args []string) error {
	opts, rest, err := coreutils.Options(args, "vnxs:")
	if err != nil {
		return err
	}
	if err := noArgs(rest); err != nil {
		return err
	}
	wanted, err := inspect.ParseSlot(opts['s'])
	if err != nil {
		return Usagef("%s", err.Error())
	}
	names, err := deviceNames()
	if err != nil {
		return err
	}
	names.Numbers = min(len(opts['n']), 2)
	bytes := 0
	switch n := len(opts['x']); {
	case n > 2:
		bytes = inspect.ConfigSize
	case n > 0:
		bytes = inspect.HeaderSize
	}
	for _, d := range inspect.Devices() {
		if !wanted.Has(d) {
			continue
		}
		if _, err := fmt.Fprint(c.Out, names.Show(d, d.Config(), len(opts['v']), bytes)); err != nil {
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
