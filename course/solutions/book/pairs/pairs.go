//go:build tamago

// Package pairs checks that the handlers of a hit run on one CPU.
package pairs

import (
	"sync/atomic"

	"sonde/arch/amd64"
	"sonde/kernel/module"
	"sonde/kernel/printk"
	"sonde/kprobes"
)

var (
	symbol      = "vfs.Write"
	open        [32]atomic.Uint64 // by CPU: the goroutine whose pre-handler has run there, and one more
	same, other atomic.Int64
	probe       *kprobes.Kprobe
)

func init() {
	module.Register(&module.Module{
		Name:   "pairs",
		Doc:    "do pre- and post-handler of a hit run on one CPU?",
		Params: module.Params{"symbol": module.String(&symbol, "function to probe")},
		Init:   start,
		Exit:   stop,
	})
}

func before(_ *kprobes.Kprobe, regs *amd64.Regs) int {
	c := kprobes.Current(regs)
	open[c.CPU].Store(uint64(c.Goroutine) + 1)
	return 0
}

func after(_ *kprobes.Kprobe, regs *amd64.Regs, _ uint64) {
	c := kprobes.Current(regs)
	if open[c.CPU].Swap(0) == uint64(c.Goroutine)+1 {
		same.Add(1)
	} else {
		other.Add(1)
	}
}

func start() error {
	same.Store(0)
	other.Store(0)
	probe = &kprobes.Kprobe{SymbolName: symbol, PreHandler: before, PostHandler: after}
	return kprobes.RegisterKprobe(probe)
}

func stop() {
	kprobes.UnregisterKprobe(probe)
	printk.Info("pairs: %d on one CPU, %d not", same.Load(), other.Load())
}
