//go:build tamago

package kprobes

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"syscall"

	"sonde/kallsyms"
	"sonde/kernel/module"
	"sonde/kernel/vfs"
	"sonde/kernel/vfs/ctl"
)

// Mount makes the control files of spec/4 appendix A under dir, usually
// /sys/kernel/debug/kprobes.
//
// Context: goroutine.
func Mount(tree *vfs.FS, dir string) error {
	for name, node := range map[string]vfs.Node{
		"list":      ctl.Print(writeList),
		"stats":     ctl.Print(writeStats),
		"blacklist": ctl.Print(writeBlacklist),
		"enabled": ctl.File{
			Read:  func() ([]byte, error) { return []byte(map[bool]string{true: "1\n", false: "0\n"}[Enabled()]), nil },
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
		SetEnabled(true)
	case "0", "n", "N":
		SetEnabled(false)
	default:
		return fmt.Errorf("%q: %w: write 0 or 1", p, syscall.EINVAL)
	}
	return nil
}

// sorted returns the sites in order of address. Called with mu held.
func sorted() []*site {
	all := allSites()
	slices.SortFunc(all, func(a, b *site) int { return cmp.Compare(a.addr, b.addr) })
	return all
}

// writeList prints a line per probe: address, type, symbol+offset, the module
// that the probed function belongs to, status. Without a module its column is a
// blank, as on Linux.
func writeList(w io.Writer) {
	settled()
	mu.Lock()
	defer mu.Unlock()
	for _, s := range sorted() {
		for _, k := range s.probes() {
			line := fmt.Sprintf("%016x  %s  %s  %1s %s", s.addr, k.kind, where(s.addr), module.Of(s.addr), k.status(s))
			fmt.Fprintln(w, strings.TrimRight(line, " "))
		}
	}
}

func (k *Kprobe) status(s *site) string {
	switch {
	case k.has(flagGone):
		return "[GONE][DISABLED]"
	case k.has(FlagDisabled):
		return "[DISABLED]"
	case s.jumped:
		return "[OPTIMIZED]"
	}
	return ""
}

// where is addr as the list has it: symbol+offset.
func where(addr uintptr) string {
	name, off, _, ok := kallsyms.Lookup(uint64(addr))
	if !ok {
		return "0x0"
	}
	return fmt.Sprintf("%s+%#x", name, off)
}

// writeStats prints every probe's ledger.
func writeStats(w io.Writer) {
	mu.Lock()
	defer mu.Unlock()
	fmt.Fprintf(w, "%-16s  t %10s %10s %8s %9s %8s %8s %9s %8s %11s  symbol\n", "address",
		"entered", "handled", "declined", "recursion", "no_inst", "disarmed", "abandoned", "inflight", "unexplained")
	for _, s := range sorted() {
		for _, k := range s.probes() {
			l := k.Ledger()
			if k.kind == kindKretprobe {
				l = asKretprobe(k).Ledger()
			}
			fmt.Fprintf(w, "%016x  %s %10d %10d %8d %9d %8d %8d %9d %8d %11d  %s\n", s.addr, k.kind,
				l.Entered, l.Handled, l.Declined, l.Recursion, l.NoInst, l.Disarmed, l.Abandoned, l.InFlight, l.Unexplained(), where(s.addr))
		}
	}
}

// writeBlacklist prints a line per function that may not be probed, in Linux's
// format: the range and the name.
func writeBlacklist(w io.Writer) {
	black := Blacklisted()
	for s := range kallsyms.Kernel().Text {
		if why := black[s.Addr]; why != "" {
			fmt.Fprintf(w, "0x%016x-0x%016x\t%s\t# %s\n", s.Addr, s.End(), s.Name, why)
		}
	}
}
