//go:build tamago

// Package opens counts the calls of a function: what course/porting.md shows in C and in Go.
package opens

import (
	"sync/atomic"

	"sonde/arch/amd64"
	"sonde/kernel/module"
	"sonde/kernel/printk"
	"sonde/kprobes"
)

var (
	symbol = "vfs.Open"
	calls  atomic.Int64
	probe  *kprobes.Kprobe
)

func init() {
	module.Register(&module.Module{
		Name:   "opens",
		Doc:    "count the calls of a function",
		Params: module.Params{"symbol": module.String(&symbol, "function to probe")},
		Init:   start,
		Exit:   stop,
	})
}

func count(p *kprobes.Kprobe, regs *amd64.Regs) int {
	calls.Add(1)
	return 0
}

func start() error {
	calls.Store(0)
	probe = &kprobes.Kprobe{PreHandler: count}
	probe.SymbolName = symbol
	return kprobes.RegisterKprobe(probe)
}

func stop() {
	kprobes.UnregisterKprobe(probe)
	printk.Info("opens: %d calls of %s", calls.Load(), symbol)
}
