//go:build tamago

// Package depths finds out how many calls of a function are in progress at the same time, at most.
package depths

import (
	"sync/atomic"

	"sonde/arch/amd64"
	"sonde/kernel/module"
	"sonde/kernel/printk"
	"sonde/kprobes"
)

var (
	symbol  = "vfs.Read"
	active  = 256
	present atomic.Int64
	most    atomic.Int64
	probe   *kprobes.Kretprobe
)

func init() {
	module.Register(&module.Module{
		Name:   "depths",
		Doc:    "how many calls are in progress at the same time: symbol= active=",
		Params: module.Params{"symbol": module.String(&symbol, "function"), "active": module.Int(&active, "room for so many").Within(1, 100_000)},
		Init:   start,
		Exit:   stop,
	})
}

func entered(*kprobes.KretprobeInstance, *amd64.Regs) int {
	n := present.Add(1)
	for old := most.Load(); n > old && !most.CompareAndSwap(old, n); old = most.Load() {
	}
	return 0
}

func returned(*kprobes.KretprobeInstance, *amd64.Regs) int {
	present.Add(-1)
	return 0
}

func start() error {
	present.Store(0)
	most.Store(0)
	probe = &kprobes.Kretprobe{EntryHandler: entered, Handler: returned, MaxActive: active}
	probe.KP.SymbolName = symbol
	return kprobes.RegisterKretprobe(probe)
}

func stop() {
	kprobes.UnregisterKretprobe(probe)
	printk.Info("depths: %s: %d at the same time, %d missed", symbol, most.Load(), probe.NMissed())
}
