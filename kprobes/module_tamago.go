//go:build tamago

package kprobes

import (
	"sonde/kernel/module"
	"sonde/kernel/printk"
)

func init() {
	module.OnUnload(forgetModule)
	printk.SetTask(task)
}

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
	for _, s := range sorted() {
		for _, k := range s.probes() {
			switch {
			case k.owner == name:
				printk.Warn("module %s: left a %s at %s, which is unregistered", name, k.kind.noun(), where(s.addr))
				left = append(left, k)
			case module.Of(s.addr) == name:
				k.markGone()
				gone = append(gone, s)
			}
		}
	}
	detachAll(left)
	rearm(gone)
}
