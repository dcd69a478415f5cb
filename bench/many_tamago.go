//go:build tamago

package bench

import (
	"fmt"
	"strings"

	"sonde/kallsyms"
	"sonde/kprobes"
)

// many returns probes on the entries of 256 functions that can be probed, none
// of the runtime's.
func many() (ks []*kprobes.Kprobe, err error) {
	for s := range kallsyms.Kernel().Text {
		if strings.HasPrefix(s.Name, "runtime") || strings.HasPrefix(s.Name, "internal/") {
			continue // hit while being counted
		}
		k := &kprobes.Kprobe{Addr: uintptr(s.Addr), PreHandler: count}
		if kprobes.RegisterKprobe(k) != nil {
			continue
		}
		kprobes.UnregisterKprobe(k)
		ks = append(ks, &kprobes.Kprobe{Addr: uintptr(s.Addr), PreHandler: count})
		if len(ks) == batch {
			return ks, nil
		}
	}
	return nil, fmt.Errorf("only %d functions to probe", len(ks))
}
