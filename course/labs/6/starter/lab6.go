//go:build tamago

// Package lab6 counts the calls of a function in three ways.
package lab6

import (
	"fmt"

	"sonde/arch/amd64"
	"sonde/kernel/module"
	"sonde/kernel/printk"
	"sonde/kprobes"
)

var (
	symbol = "vfs.Read"
	how    = "plain"
	probe  *kprobes.Kprobe
)

// ways are the handlers, by the value of the parameter how.
var ways = map[string]kprobes.PreHandler{
	"plain": countPlain,
}

func init() {
	module.Register(&module.Module{
		Name: "lab6",
		Doc:  "count the calls of a function: symbol=vfs.Read how=plain, atomic or percpu",
		Params: module.Params{
			"symbol": module.String(&symbol, "function to probe"),
			"how":    module.String(&how, "how to count"),
		},
		Init: start,
		Exit: stop,
	})
}

// countPlain counts without anything that keeps two CPUs apart.
func countPlain(p *kprobes.Kprobe, regs *amd64.Regs) int {
	return 0
}

func start() error {
	handler := ways[how]
	if handler == nil {
		return fmt.Errorf("how=%s: there is no such way", how)
	}
	probe = &kprobes.Kprobe{SymbolName: symbol, PreHandler: handler}
	return kprobes.RegisterKprobe(probe)
}

func stop() {
	kprobes.UnregisterKprobe(probe)
	printk.Info("lab6: %s %d", how, 0)
}
