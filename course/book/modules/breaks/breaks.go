//go:build tamago

// Package breaks has handlers that break the rules, each in its own way: chapter 7.
package breaks

import (
	"errors"
	"sync"

	"sonde/arch/amd64"
	"sonde/kernel/module"
	"sonde/kernel/printk"
	"sonde/kprobes"
)

var (
	symbol = "vfs.Read"
	how    string
	probe  *kprobes.Kprobe

	list []int
	seen = map[uint64]bool{}
	full = make(chan int)
	mu   sync.Mutex
	none = 0
)

// handlers are what the parameter how chooses.
var handlers = map[string]func(*amd64.Regs){
	"allocate": func(*amd64.Regs) { list = append(list, 1) },
	"map":      func(r *amd64.Regs) { seen[r.AX] = true },
	"send":     func(*amd64.Regs) { full <- 1 },
	"lock":     func(*amd64.Regs) { mu.Lock() },
	"divide":   func(r *amd64.Regs) { list[0] /= none },
	"loop": func(*amd64.Regs) {
		for {
		}
	},
	"nothing": func(*amd64.Regs) {},
}

// unregister takes its own probe away, which waits for all CPUs.
func unregister(*amd64.Regs) { kprobes.UnregisterKprobe(probe) }

func init() {
	module.Register(&module.Module{
		Name:   "breaks",
		Doc:    "handlers that break the rules: how=allocate, map, send, lock, divide, loop, unregister, nothing",
		Params: module.Params{"symbol": module.String(&symbol, "function to probe"), "how": module.String(&how, "what the handler does")},
		Init:   start,
		Exit:   stop,
	})
}

func start() error {
	handler := handlers[how]
	if how == "unregister" {
		handler = unregister
	}
	if handler == nil {
		return errors.New("how is to be allocate, map, send, lock, divide, loop, unregister or nothing")
	}
	list = nil
	mu.TryLock() // somebody else has it
	probe = &kprobes.Kprobe{SymbolName: symbol, PreHandler: func(_ *kprobes.Kprobe, r *amd64.Regs) int {
		handler(r)
		return 0
	}}
	return kprobes.RegisterKprobe(probe)
}

func stop() {
	kprobes.UnregisterKprobe(probe)
	l := probe.Ledger()
	printk.Info("breaks: %s: %d handled, %d abandoned, %d unexplained", how, l.Handled, l.Abandoned, l.Unexplained())
}
