//go:build tamago

// Package modest remembers which goroutines have called a function last, without allocating memory.
package modest

import (
	"sync/atomic"

	"sonde/arch/amd64"
	"sonde/kernel/module"
	"sonde/kernel/printk"
	"sonde/kprobes"
)

var (
	symbol  = "vfs.Read"
	callers [16]atomic.Int64 // a ring: the oldest is overwritten
	calls   atomic.Uint64
	probe   *kprobes.Kprobe
)

func init() {
	module.Register(&module.Module{
		Name:   "modest",
		Doc:    "remember who calls a function, the last 16 of them",
		Params: module.Params{"symbol": module.String(&symbol, "function to probe")},
		Init:   start,
		Exit:   stop,
	})
}

func remember(_ *kprobes.Kprobe, regs *amd64.Regs) int {
	at := calls.Add(1) - 1
	callers[at%uint64(len(callers))].Store(int64(kprobes.Current(regs).Goroutine))
	return 0
}

func start() error {
	calls.Store(0)
	probe = &kprobes.Kprobe{SymbolName: symbol, PreHandler: remember}
	return kprobes.RegisterKprobe(probe)
}

func stop() {
	kprobes.UnregisterKprobe(probe)
	n := calls.Load()
	printk.Info("modest: %d calls, %d remembered", n, min(n, uint64(len(callers))))
}
