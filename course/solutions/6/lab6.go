//go:build tamago

// Package lab6 counts the calls of a function in three ways.
package lab6

import (
	"fmt"
	"sync/atomic"

	"sonde/arch/amd64"
	"sonde/kernel/cpu"
	"sonde/kernel/module"
	"sonde/kernel/printk"
	"sonde/kprobes"
)

// A counter is one for a CPU. It fills a cache line, so that no CPU writes into that of another.
type counter struct {
	atomic.Int64
	_ [56]byte
}

var (
	symbol = "vfs.Read"
	how    = "plain"
	probe  *kprobes.Kprobe

	plain  int64
	shared atomic.Int64
	each   [32]counter
)

// ways are the handlers, by the value of the parameter how.
var ways = map[string]kprobes.PreHandler{
	"plain":  countPlain,
	"atomic": countAtomic,
	"percpu": countPerCPU,
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

// window is how long countPlain waits between reading and writing.
const window = 50

// countPlain counts without anything that keeps two CPUs apart. What is between reading and writing
// makes it more likely that another CPU comes in between.
func countPlain(p *kprobes.Kprobe, regs *amd64.Regs) int {
	n := plain
	for range window {
		cpu.Pause()
	}
	plain = n + 1
	return 0
}

func countAtomic(p *kprobes.Kprobe, regs *amd64.Regs) int {
	shared.Add(1)
	return 0
}

func countPerCPU(p *kprobes.Kprobe, regs *amd64.Regs) int {
	each[kprobes.Current(regs).CPU].Add(1)
	return 0
}

func start() error {
	handler := ways[how]
	if handler == nil {
		return fmt.Errorf("how=%s: there is no such way", how)
	}
	plain = 0
	shared.Store(0)
	for i := range each {
		each[i].Store(0)
	}
	probe = &kprobes.Kprobe{SymbolName: symbol, PreHandler: handler}
	return kprobes.RegisterKprobe(probe)
}

func stop() {
	kprobes.UnregisterKprobe(probe)
	n := plain + shared.Load()
	for i := range each {
		n += each[i].Load()
	}
	printk.Info("lab6: %s %d", how, n)
	if how == "percpu" {
		for i := range cpu.Num() {
			printk.Info("lab6: CPU %d: %d", i, each[i].Load())
		}
	}
}
