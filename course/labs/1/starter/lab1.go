//go:build tamago

// Package lab1 counts the calls of a function, on each CPU.
package lab1

import (
	"sync/atomic"

	"sonde/arch/amd64"
	"sonde/kernel/module"
	"sonde/kernel/printk"
	"sonde/kprobes"
)

var (
	symbol = "vfs.Read"
	calls  atomic.Int64
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

// count is called at each hit: it is the handler.
func count(p *kprobes.Kprobe, regs *amd64.Regs) int {
	return 0
}

// start is called by insmod. If it returns an error, the module is not loaded.
func start() error {
	return nil
}

// stop is called by rmmod.
func stop() {
	printk.Info("lab1: %d calls", calls.Load())
}
