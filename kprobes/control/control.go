// Package control makes the control files of probes: kprobes.txt, appendix A.
package control

import (
	"fmt"
	"io"

	"sonde/kallsyms"
	"sonde/kernel/module"
	"sonde/kernel/probe"
	"sonde/kernel/vfs"
	"sonde/kernel/vfs/ctl"
	"sonde/kprobes"
)

// Mount makes the control files under dir, usually /sys/kernel/debug/kprobes.
func Mount(tree *vfs.FS, dir string) error {
	return tree.BindAll(dir, map[string]vfs.Node{
		"list":              ctl.Print(writeList),
		"stats":             ctl.Print(writeStats),
		"blacklist":         ctl.Print(writeBlacklist),
		"blacklist_reasons": ctl.Print(writeReasons),
		"enabled":           ctl.Switch(kprobes.Enabled, kprobes.SetEnabled),
	})
}

// writeList prints a line per probe: address, type, symbol+offset, the module
// that the probed function belongs to, status. Without a module its column is a
// blank, as on Linux.
func writeList(w io.Writer) {
	kprobes.AwaitJumps()
	for _, d := range kprobes.All() {
		for _, k := range d.Probes {
			ctl.Line(w, "%016x  %s  %s  %1s %s", d.Addr, k.Kind, kallsyms.Where(uint64(d.Addr)), module.Of(d.Addr), status(&d, &k))
		}
	}
}

func status(d *kprobes.Description, k *kprobes.ProbeInfo) string {
	switch {
	case k.Gone:
		return "[GONE][DISABLED]"
	case k.Disabled:
		return "[DISABLED]"
	case d.Jumped:
		return "[OPTIMIZED]"
	}
	return ""
}

// writeStats prints every probe's ledger.
func writeStats(w io.Writer) {
	fmt.Fprintf(w, "%-16s  t %s  symbol\n", "address", probe.Every.Head())
	for _, d := range kprobes.All() {
		for _, k := range d.Probes {
			fmt.Fprintf(w, "%016x  %s %s  %s\n", d.Addr, k.Kind, probe.Every.Row(k.Ledger), kallsyms.Where(uint64(d.Addr)))
		}
	}
}

// writeBlacklist prints a line per function that may not be probed, in Linux's
// format: the range and the name.
func writeBlacklist(w io.Writer) {
	eachBlack(func(s kallsyms.Symbol, _ string) {
		fmt.Fprintf(w, "0x%016x-0x%016x\t%s\n", s.Addr, s.End(), s.Name)
	})
}

// writeReasons prints in the same order the names, and why: the calls by which a trap comes there.
func writeReasons(w io.Writer) {
	eachBlack(func(s kallsyms.Symbol, why string) { fmt.Fprintf(w, "%s\t%s\n", s.Name, why) })
}

func eachBlack(f func(s kallsyms.Symbol, why string)) {
	black := kprobes.Blacklisted()
	for s := range kallsyms.Kernel().Text {
		if why := black[s.Addr]; why != "" {
			f(s, why)
		}
	}
}
