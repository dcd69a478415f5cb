// Package firmware shows ACPI tables and DMI strings in the files that Linux has for them.
package firmware

import (
	"io"
	"syscall"

	"sonde/kernel/acpi/tables"
	"sonde/kernel/refusal"
	"sonde/kernel/smbios"
	"sonde/kernel/vfs"
	"sonde/kernel/vfs/ctl"
)

// Firmware is where it has left what it tells. The zero Firmware tells nothing.
type Firmware struct {
	Mem  io.ReaderAt
	Root uint64 // physical address of the RSDT or XSDT; 0: there is no ACPI
	Wide bool   // it is an XSDT
	DMI  *smbios.Tables
}

// Tables returns the ACPI tables, the root table first.
//
// Errors: ENODEV there is no ACPI; of a damaged table, with those that are good.
func (f *Firmware) Tables() ([]tables.Table, error) {
	if f.Root == 0 {
		return nil, refusal.New(syscall.ENODEV, "this machine has no ACPI tables")
	}
	return tables.Read(f.Mem, f.Root, f.Wide)
}

// Mount makes the files below /sys, as far as there is something to tell.
//
// Errors: EEXIST when something is there already (wrapped with the path).
func (f *Firmware) Mount(tree *vfs.FS) error {
	nodes := map[string]vfs.Node{}
	if f.Root != 0 {
		nodes["firmware/acpi/tables"] = ctl.Dir{List: f.names, Node: f.table}
	}
	if f.DMI != nil {
		nodes["firmware/dmi/tables/smbios_entry_point"] = data(f.DMI.Entry)
		nodes["firmware/dmi/tables/DMI"] = data(f.DMI.Raw)
	}
	for name, text := range f.DMI.ID() {
		nodes["class/dmi/id/"+name] = ctl.Text(func() string { return text + "\n" })
	}
	return tree.BindAll("/sys", nodes)
}

func data(b []byte) ctl.File { return ctl.File{Read: func() ([]byte, error) { return b, nil }} }

// listed are the tables that have files: all but the root table, as on Linux.
func (f *Firmware) listed() []tables.Table {
	all, _ := f.Tables() // what is good
	return all[min(1, len(all)):]
}

func (f *Firmware) names() []string { return tables.Names(f.listed()) }

func (f *Firmware) table(name string) vfs.Node {
	all := f.listed()
	for i, n := range tables.Names(all) {
		if n == name {
			return data(all[i].Data)
		}
	}
	return nil
}
