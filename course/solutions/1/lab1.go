//go:build tamago

// Package lab1 counts the calls of a function, on each CPU.
package lab1

import (
	"sync/atomic"

	"sonde/arch/amd64"
	"sonde/kernel/cpu"
	"sonde/kernel/module"
	"sonde/kernel/printk"
	"sonde/kprobes"
)

var (
	symbol = "vfs.Read"
	counts [32]atomic.Int64 // by CPU
	probe  *kprobes.Kprobe
)

func init() {
	module.Register(&module.Module{
		Name:   "lab1",
		Doc:    "count the calls of a function: symbol=vfs.Read",
		Params: module.Params{"symbol": module.String(&symbol, "function to probe")},
		Init:   start,
		Exit:   stop,
	})
}

// count is called at each hit.
func count(p *kprobes.Kprobe, regs *amd64.Regs) int {
	counts[kprobes.Current(regs).CPU].Add(1)
	return 0
}

func start() error {
	for i := range counts {
		counts[i].Store(0)
	}
	probe = &kprobes.Kprobe{SymbolName: symbol, PreHandler: count}
	return kprobes.RegisterKprobe(probe)
}

func stop() {
	kprobes.UnregisterKprobe(probe)
	sum := int64(0)
	for i := range cpu.Num() {
		sum += counts[i].Load()
	}
	printk.Info("lab1: %d calls", sum)
	for i := range cpu.Num() {
		printk.Info("lab1: CPU %d: %d", i, counts[i].Load())
	}
}
