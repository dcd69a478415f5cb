package kwatch

import (
	"fmt"
	"io"

	"sonde/kernel/probe"
	"sonde/kernel/vfs"
	"sonde/kernel/vfs/ctl"
)

// Mount makes the control file under dir, usually /sys/kernel/debug/kwatch.
func Mount(tree *vfs.FS, dir string) error {
	return tree.Bind(dir+"/list", ctl.Print(writeList))
}

// counts are what the list has of each watchpoint's ledger.
var counts = probe.Columns{"entered", "handled", "declined", "recursion", "disarmed", "abandoned", "unexplained"}

// writeList prints a line per watchpoint, with its counts, in the same columns as kprobes.
func writeList(w io.Writer) {
	fmt.Fprintf(w, "reg %-2s len %-16s %s  symbol\n", "t", "address", counts.Head())
	for _, i := range All() {
		status := ""
		if i.Gone || i.Disabled {
			status = " [DISABLED]"
		}
		if i.Blind != 0 {
			status += fmt.Sprintf(" [%d steps not watched]", i.Blind)
		}
		ctl.Line(w, "%-3d %-2s %-3d %016x %s  %s  %s%s", i.DebugReg, i.Type, i.Length, i.Addr, counts.Row(i.Ledger), i.Where, i.Owner, status)
	}
}
