// Package control makes the control files of user probes.
package control

import (
	"fmt"
	"io"
	"strings"

	"sonde/kernel/probe"
	"sonde/kernel/vfs"
	"sonde/kernel/vfs/ctl"
	"sonde/uprobes"
)

// Mount makes the control files under dir, usually /sys/kernel/debug/uprobes.
func Mount(tree *vfs.FS, dir string) error {
	return tree.BindAll(dir, map[string]vfs.Node{
		"list":    ctl.Print(writeList),
		"stats":   ctl.Print(writeStats),
		"enabled": ctl.Switch(uprobes.Enabled, uprobes.SetEnabled),
	})
}

// writeList prints a line per probe: process, address, type, the program, where the
// instruction is in its file, how it gets done, status. Of a return probe: how returns are seen, and why.
func writeList(w io.Writer) {
	for _, p := range uprobes.All() {
		status := ""
		if p.Disabled {
			status = "[DISABLED]"
		}
		line := fmt.Sprintf("%6d  %016x  %-2s  %-15s  %s  %s %s", p.Pid, p.Vaddr, p.Kind, p.Program, p.Place, p.Way, status)
		if p.Returns != "" {
			line = strings.TrimRight(line, " ") + "  returns: " + p.Returns
		}
		ctl.Line(w, "%s", line)
	}
}

// counts are what the file has of each probe's ledger.
var counts = probe.Columns{"entered", "handled", "no_inst", "disarmed", "abandoned", "inflight", "unexplained"}

// writeStats prints every probe's ledger.
func writeStats(w io.Writer) {
	fmt.Fprintf(w, "%6s  %-16s  %-2s %s  place\n", "pid", "address", "t", counts.Head())
	for _, p := range uprobes.All() {
		fmt.Fprintf(w, "%6d  %016x  %-2s %s  %s\n", p.Pid, p.Vaddr, p.Kind, counts.Row(p.Ledger), p.Place)
	}
}
