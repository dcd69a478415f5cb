//go:build tamago

package bench

import (
	"fmt"
	"strings"

	"sonde/kallsyms"
	"sonde/kprobes"
	"sonde/optprobe"
)

// many returns probes on the entries of 256 functions that can be optimized,
// none of the runtime's.
func many() (ks []*kprobes.Kprobe, err error) {
	defer optprobe.Optimization.Store(optprobe.Optimization.Get())
	optprobe.Optimization.Store(true)
	var all []*kprobes.Kprobe
	for s := range kallsyms.Kernel().Text {
		if strings.HasPrefix(s.Name, "runtime") || strings.HasPrefix(s.Name, "internal/") {
			continue // hit while being counted
		}
		k := &kprobes.Kprobe{Addr: uintptr(s.Addr), PreHandler: count}
		if kprobes.RegisterKprobe(k) != nil {
			continue
		}
		if all = append(all, k); len(all) == 2*batch {
			break
		}
	}
	err = optprobe.Optimize()
	for _, k := range all {
		if kprobes.Optimized(k.Addr) && len(ks) < batch {
			ks = append(ks, &kprobes.Kprobe{Addr: k.Addr, PreHandler: count})
		}
	}
	kprobes.UnregisterKprobes(all)
	if err != nil || len(ks) == batch {
		return ks, err
	}
	return nil, fmt.Errorf("only %d functions to probe", len(ks))
}
