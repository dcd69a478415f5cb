package kprobes

import (
	"cmp"
	"fmt"
	"slices"

	"sonde/kallsyms"
	"sonde/kernel/module"
	"sonde/kernel/printk"
)

func init() { module.OnUnload(forgetModule) }

// forgetModule unregisters the probes that a module leaves behind, naming each;
// probes of others on its functions are gone for good. When it returns no CPU is
// in a handler of the module's.
//
// Context: goroutine.
// Source: spec/4 appendix A, [GONE].
func forgetModule(name string) {
	mu.Lock()
	defer mu.Unlock()
	var left []*Kprobe
	var gone []*site
	for _, s := range slices.SortedFunc(sites.All, func(a, b *site) int { return cmp.Compare(a.addr, b.addr) }) {
		for _, k := range s.probes() {
			switch {
			case k.owner == name:
				printk.Warn("module %s: left a %s at %s, which is unregistered", name, k.kind.noun(), Where(s.addr))
				left = append(left, k)
			case module.Of(s.addr) == name:
				k.Flags.Set(flagGone)
				gone = append(gone, s)
			}
		}
	}
	detach(left)
	for _, s := range gone {
		s.shorten()
	}
	rearm(gone)
}

// Where is addr as lists have it: symbol+offset.
//
// Context: any.
func Where(addr uintptr) string {
	name, off, _, ok := kallsyms.Lookup(uint64(addr))
	if !ok {
		return "0x0"
	}
	return fmt.Sprintf("%s+%#x", name, off)
}
