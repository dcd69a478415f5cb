//go:build tamago

// Package hits counts the hits of a function.
package hits

import (
	"sync/atomic"

	"sonde/arch/amd64"
	"sonde/kernel/module"
	"sonde/kernel/printk"
	"sonde/kprobes"
)

var (
	symbol = "vfs.Read"
	hits   atomic.Int64
	probe  *kprobes.Kprobe
)

func init() {
	module.Register(&module.Module{
		Name:   "hits",
		Doc:    "count the hits of a function: symbol=vfs.Read",
		Params: module.Params{"symbol": module.String(&symbol, "function to probe")},
		Init:   start,
		Exit:   stop,
	})
}

// count is called at each hit.
func count(*kprobes.Kprobe, *amd64.Regs) int {
	hits.Add(1)
	return 0
}

func start() error {
	hits.Store(0)
	probe = &kprobes.Kprobe{SymbolName: symbol, PreHandler: count}
	return kprobes.RegisterKprobe(probe)
}

func stop() {
	kprobes.UnregisterKprobe(probe)
	printk.Info("hits: %s was called %d times", symbol, hits.Load())
}
