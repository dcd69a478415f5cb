//go:build tamago

// Package lab3 measures how long the calls of a function take, as a histogram.
package lab3

import (
	"math/bits"
	"sync/atomic"

	"sonde/arch/amd64"
	"sonde/kernel/cpu"
	"sonde/kernel/module"
	"sonde/kernel/printk"
	"sonde/kprobes"
)

var (
	symbol  = "vfs.Read"
	buckets [64]atomic.Int64 // of calls that took at least 2^i ns, and less than 2^(i+1)
	begun   int64            // when the call was entered: but which call?
	probe   *kprobes.Kretprobe
)

func init() {
	module.Register(&module.Module{
		Name:   "lab3",
		Doc:    "how long the calls of a function take: symbol=vfs.Read",
		Params: module.Params{"symbol": module.String(&symbol, "function to measure")},
		Init:   start,
		Exit:   stop,
	})
}

// entry is called when a call is entered.
func entry(ri *kprobes.KretprobeInstance, regs *amd64.Regs) int {
	begun = cpu.Nanotime()
	return 0
}

// exit is called when a call returns.
func exit(ri *kprobes.KretprobeInstance, regs *amd64.Regs) int {
	took := cpu.Nanotime() - begun
	buckets[bits.Len64(uint64(max(took, 1)))-1].Add(1)
	return 0
}

func start() error {
	for i := range buckets {
		buckets[i].Store(0)
	}
	probe = &kprobes.Kretprobe{EntryHandler: entry, Handler: exit}
	probe.KP.SymbolName = symbol
	return kprobes.RegisterKretprobe(probe)
}

func stop() {
	kprobes.UnregisterKretprobe(probe)
	sum := int64(0)
	for i := range buckets {
		sum += buckets[i].Load()
	}
	printk.Info("lab3: %d calls, %d missed", sum, 0)
	for i := range buckets {
		if n := buckets[i].Load(); n > 0 {
			printk.Info("lab3: 2^%d %d", i, n)
		}
	}
}
