package kwatch

import (
	"fmt"
	"io"
	"strings"

	"sonde/kernel/vfs"
	"sonde/kernel/vfs/ctl"
)

// Mount makes the control file under dir, usually /sys/kernel/debug/kwatch.
func Mount(tree *vfs.FS, dir string) error {
	return tree.Bind(dir+"/list", ctl.Print(writeList))
}

// writeList prints a line per watchpoint, with its counts, in the same columns as kprobes.
func writeList(w io.Writer) {
	fmt.Fprintf(w, "%-3s %-2s %-3s %-16s %10s %10s %8s %9s %8s %9s %11s  symbol\n", "reg", "t", "len", "address",
		"entered", "handled", "declined", "recursion", "disarmed", "abandoned", "unexplained")
	for _, i := range All() {
		l := i.Ledger
		line := fmt.Sprintf("%-3d %-2s %-3d %016x %10d %10d %8d %9d %8d %9d %11d  %s  %s", i.DebugReg, i.Type, i.Length, i.Addr,
			l.Entered, l.Handled, l.Declined, l.Recursion, l.Disarmed, l.Abandoned, l.Unexplained(), i.Where, i.Owner)
		if i.Gone || i.Disabled {
			line += " [DISABLED]"
		}
		if i.Blind != 0 {
			line += fmt.Sprintf(" [%d steps not watched]", i.Blind)
		}
		fmt.Fprintln(w, strings.TrimRight(line, " "))
	}
}
