package kprobes

import (
	"cmp"
	"fmt"
	"slices"

	"sonde/kallsyms"
	"sonde/kernel/attach"
	"sonde/kernel/module"
	"sonde/kernel/probe"
)

func init() {
	attach.Show(&attach.Face{Name: "kprobes", Head: fmt.Sprintf("%-16s  t", "address"), Counts: probe.Every, Last: "symbol",
		Rows: rows, Forget: forget, Enabled: Enabled, SetEnabled: SetEnabled})
}

// rows has in each line: address, type, symbol+offset, the module that the probed function belongs to,
// status. Without a module its column is a blank, as on Linux.
//
// Source: kprobes.txt, appendix A.
func rows() (all []attach.Row) {
	AwaitJumps()
	for _, d := range All() {
		where, of := kallsyms.Where(uint64(d.Addr)), module.Of(d.Addr)
		for _, k := range d.Probes {
			key := fmt.Sprintf("%016x  %s", d.Addr, k.Kind)
			all = append(all, attach.Row{Line: fmt.Sprintf("%s  %s  %1s %s", key, where, of, status(&d, &k)), Key: key, Ledger: k.Ledger, Place: where})
		}
	}
	return all
}

func status(d *Description, k *ProbeInfo) string {
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

// forget is attach.Face's Forget. Other owners' probes on the module's functions are disabled for good.
//
// Source: kprobes.txt, appendix A, [GONE].
func forget(name string) (forgotten []string) {
	mu.Lock()
	defer mu.Unlock()
	var mine []*Kprobe
	var gone []*point
	for _, pt := range slices.SortedFunc(points.All, func(a, b *point) int { return cmp.Compare(a.Addr, b.Addr) }) {
		for _, k := range pt.probes() {
			switch {
			case k.owner == name && k.Place == nil: // links are closed by package attach
				forgotten = append(forgotten, fmt.Sprintf("a %s at %s", k.kind.noun(), kallsyms.Where(uint64(pt.Addr))))
				mine = append(mine, k)
			case module.Of(pt.Addr) == name:
				k.Flags.Set(flagGone)
				gone = append(gone, pt)
			}
		}
	}
	detach(mine)
	for _, pt := range gone {
		pt.shorten()
	}
	rearm(gone)
	return forgotten
}
