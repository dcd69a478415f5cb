// Package control makes the control files of user probes.
package control

import (
	"fmt"
	"io"
	"strings"
	"syscall"

	"sonde/kernel/refusal"
	"sonde/kernel/vfs"
	"sonde/kernel/vfs/ctl"
	"sonde/sysctl"
	"sonde/uprobes"
)

// Mount makes the control files under dir, usually /sys/kernel/debug/uprobes.
func Mount(tree *vfs.FS, dir string) error {
	for name, node := range map[string]vfs.Node{
		"list":  ctl.Print(writeList),
		"stats": ctl.Print(writeStats),
		"enabled": ctl.File{
			Read: func() ([]byte, error) {
				return []byte(map[bool]string{true: "1\n", false: "0\n"}[uprobes.Enabled()]), nil
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

// writeEnabled takes what Linux takes of a bool.
func writeEnabled(p []byte) error {
	switch strings.TrimSpace(string(p)) {
	case "1", "y", "Y":
		uprobes.SetEnabled(true)
	case "0", "n", "N":
		uprobes.SetEnabled(false)
	default:
		return refusal.New(syscall.EINVAL, "%s: write 0 or 1", sysctl.Quote(string(p)))
	}
	return nil
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
		fmt.Fprint(w, strings.TrimRight(line, " "))
		if p.Returns != "" {
			fmt.Fprint(w, "  returns: ", p.Returns)
		}
		fmt.Fprintln(w)
	}
}

// writeStats prints every probe's ledger.
func writeStats(w io.Writer) {
	fmt.Fprintf(w, "%6s  %-16s  %-2s %10s %10s %8s %8s %9s %8s %11s  place\n", "pid", "address", "t",
		"entered", "handled", "no_inst", "disarmed", "abandoned", "inflight", "unexplained")
	for _, p := range uprobes.All() {
		l := p.Ledger
		fmt.Fprintf(w, "%6d  %016x  %-2s %10d %10d %8d %8d %9d %8d %11d  %s\n", p.Pid, p.Vaddr, p.Kind,
			l.Entered, l.Handled, l.NoInst, l.Disarmed, l.Abandoned, l.InFlight, l.Unexplained(), p.Place)
	}
}
