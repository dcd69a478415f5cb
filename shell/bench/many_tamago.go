//go:build tamago

package bench

import (
	"fmt"
	"strings"

	"sonde/kallsyms"
	"sonde/kprobes"
	"sonde/optprobe"
)

// many returns probes on the entries of 256 functions that can be optimized and are not called
// while probes are registered: their hits would count.
func many() (ks []*kprobes.Kprobe, err error) {
	defer optprobe.Optimization.Store(optprobe.Optimization.Get())
	optprobe.Optimization.Store(true)
	var all []*kprobes.Kprobe
	for s := range kallsyms.Kernel().Text {
		if strings.HasPrefix(s.Name, "runtime") || strings.HasPrefix(s.Name, "internal/") {
			continue
		}
		k := &kprobes.Kprobe{Addr: uintptr(s.Addr), PreHandler: count}
		if kprobes.RegisterKprobe(k) != nil {
			continue
		}
		if all = append(all, k); len(all) == 3*batch {
			break
		}
	}
	err = optprobe.Optimize()
	able := map[*kprobes.Kprobe]bool{}
	for _, k := range all {
		able[k] = kprobes.Optimized(k.Addr)
	}
	optprobe.Optimization.Store(false)
	kprobes.UnregisterKprobes(all)
	for _, k := range all {
		if l := k.Ledger(); able[k] && l.Entered == 0 && len(ks) < batch {
			ks = append(ks, &kprobes.Kprobe{Addr: k.Addr, PreHandler: count})
		}
	}
	if err != nil || len(ks) == batch {
		return ks, err
	}
	return nil, fmt.Errorf("only %d functions to probe", len(ks))
}
