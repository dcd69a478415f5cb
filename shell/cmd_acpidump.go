package shell

import (
	"syscall"

	"sonde/kernel/refusal"
)

var acpidumpCommand = &Command{
	Name:    "acpidump",
	Usage:   "[-d] [-n SIGNATURE]",
	Options: "dn:",
	Help:    "print ACPI tables in hexadecimal (-d: decoded, -n: only those with this signature)",
	Run:     acpidump,
}

func acpidump(c *Context, args []string) error {
	if len(args) > 0 {
		return Usagef("%s: name the table by -n", args[0])
	}
	if c.Machine.Firmware == nil {
		return missing("ACPI tables")
	}
	all, readErr := c.Machine.Firmware.Tables() // with an error, the valid ones
	name, one := c.Opts['n']
	_, words := c.Opts['d']
	found := false
	for _, t := range all {
		if one && t.Signature != name {
			continue
		}
		found = true
		show := t.Dump
		if words {
			show = t.Decode
		}
		if err := show(c.Out); err != nil {
			return err
		}
	}
	if one && !found && readErr == nil {
		return refusal.New(syscall.ENOENT, "there is no table %s", name)
	}
	return readErr
}
