// Package control makes the control files of probes: kprobes.txt, appendix A.
package control

import (
	"fmt"
	"io"
	"strings"
	"syscall"

	"sonde/kallsyms"
	"sonde/kernel/module"
	"sonde/kernel/refusal"
	"sonde/kernel/vfs"
	"sonde/kernel/vfs/ctl"
	"sonde/kprobes"
	"sonde/sysctl"
)

// Mount makes the control files under dir, usually /sys/kernel/debug/kprobes.
func Mount(tree *vfs.FS, dir string) error {
	for name, node := range map[string]vfs.Node{
		"list":              ctl.Print(writeList),
		"stats":             ctl.Print(writeStats),
		"blacklist":         ctl.Print(writeBlacklist),
		"blacklist_reasons": ctl.Print(writeReasons),
		"enabled": ctl.File{
			Read: func() ([]byte, error) {
				return []byte(map[bool]string{true: "1\n", false: "0\n"}[kprobes.Enabled()]), nil
			},
			Write: writeEnabled,
		},
	} {
		if err := tree.Bind(dir+"/"+name, node); err != nil {
			return err
		}
	}
	return nil
}

// writeEnabled takes what Linux takes of a bool: y, Y, 1 and n, N, 0.
func writeEnabled(p []byte) error {
	switch strings.TrimSpace(string(p)) {
	case "1", "y", "Y":
		kprobes.SetEnabled(true)
	case "0", "n", "N":
		kprobes.SetEnabled(false)
	default:
		return refusal.New(syscall.EINVAL, "%s: write 0 or 1", sysctl.Quote(string(p)))
	}
	return nil
}

// writeList prints a line per probe: address, type, symbol+offset, the module
// that the probed function belongs to, status. Without a module its column is a
// blank, as on Linux.
func writeList(w io.Writer) {
	kprobes.AwaitJumps()
	for _, d := range kprobes.All() {
		for _, k := range d.Probes {
			line := fmt.Sprintf("%016x  %s  %s  %1s %s", d.Addr, k.Kind, kprobes.Where(d.Addr), module.Of(d.Addr), status(&d, &k))
			fmt.Fprintln(w, strings.TrimRight(line, " "))
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
	fmt.Fprintf(w, "%-16s  t %10s %10s %8s %9s %8s %8s %9s %8s %11s  symbol\n", "address",
		"entered", "handled", "declined", "recursion", "no_inst", "disarmed", "abandoned", "inflight", "unexplained")
	for _, d := range kprobes.All() {
		for _, k := range d.Probes {
			l := k.Ledger
			fmt.Fprintf(w, "%016x  %s %10d %10d %8d %9d %8d %8d %9d %8d %11d  %s\n", d.Addr, k.Kind,
				l.Entered, l.Handled, l.Declined, l.Recursion, l.NoInst, l.Disarmed, l.Abandoned, l.InFlight, l.Unexplained(), kprobes.Where(d.Addr))
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
