//go:build tamago

// Package greedy remembers which goroutines have called a function, in a handler that allocates memory: chapter 7.
package greedy

import (
	"sonde/arch/amd64"
	"sonde/kernel/module"
	"sonde/kernel/printk"
	"sonde/kprobes"
)

var (
	symbol  = "vfs.Read"
	callers []kprobes.Task
	probe   *kprobes.Kprobe
)

func init() {
	module.Register(&module.Module{
		Name:   "greedy",
		Doc:    "remember who calls a function, badly",
		Params: module.Params{"symbol": module.String(&symbol, "function to probe")},
		Init:   start,
		Exit:   stop,
	})
}

func remember(_ *kprobes.Kprobe, regs *amd64.Regs) int {
	callers = append(callers, kprobes.Current(regs).Goroutine)
	return 0
}

func start() error {
	callers = nil
	probe = &kprobes.Kprobe{SymbolName: symbol, PreHandler: remember}
	return kprobes.RegisterKprobe(probe)
}

func stop() {
	kprobes.UnregisterKprobe(probe)
	printk.Info("greedy: %d calls remembered", len(callers))
}
