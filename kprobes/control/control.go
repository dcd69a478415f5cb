// Package control makes the files that say which functions may not be probed: kprobes.txt, appendix A. The
// other control files are attach.Face's.
package control

import (
	"fmt"
	"io"

	"sonde/kallsyms"
	"sonde/kernel/vfs"
	"sonde/kernel/vfs/ctl"
	"sonde/kprobes"
)

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
