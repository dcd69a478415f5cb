// Package control makes the control files of probes: kprobes.txt, appendix A. The blacklist's are here; the
// lists and the switch are attach.Face's.
package control

import (
	"fmt"
	"io"

	"sonde/kallsyms"
	"sonde/kernel/module"
	"sonde/kernel/vfs"
	"sonde/kernel/vfs/ctl"
	"sonde/kprobes"
	"sonde/probe/attach"
	"sonde/probe/ledger"
)

func init() {
	attach.Show(&attach.Face{Name: "kprobes", Head: fmt.Sprintf("%-16s  t", "address"), Counts: ledger.Every, Last: "symbol",
		Rows: rows, Forget: kprobes.Forget, Enabled: kprobes.Enabled, SetEnabled: kprobes.SetEnabled})
}

// rows has in each line: address, type, symbol+offset, the module that the probed function belongs to,
// status. Without a module its column is a blank, as on Linux.
//
// Source: kprobes.txt, appendix A.
func rows() (all []attach.Row) {
	kprobes.AwaitJumps()
	for _, d := range kprobes.All() {
		where, of := kallsyms.Where(uint64(d.Addr)), module.Of(d.Addr)
		for _, k := range d.Probes {
			key := fmt.Sprintf("%016x  %s", d.Addr, k.Kind)
			all = append(all, attach.Row{Line: fmt.Sprintf("%s  %s  %1s %s", key, where, of, status(&d, &k)), Key: key, Ledger: k.Ledger, Place: where})
		}
	}
	return all
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

// Mount makes the files under dir, usually /sys/kernel/debug/kprobes.
func Mount(tree *vfs.FS, dir string) error {
	return tree.BindAll(dir, map[string]vfs.Node{"blacklist": ctl.Print(writeBlacklist), "blacklist_reasons": ctl.Print(writeReasons)})
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
