//go:build tamago

// Package faulty is a module whose handler does what no handler may do: the recording of an abandoned handler
// is of it.
package faulty

import (
	"sonde/arch/amd64"
	"sonde/kernel/module"
	"sonde/kprobes"
)

func init() {
	module.Register(&module.Module{Name: "faulty", Doc: "a handler that is abandoned", Init: start, Exit: stop})
}

var (
	queue = make(chan uint64, 1)
	probe *kprobes.Kprobe
)

// send is the handler. A channel may block, and a handler must not.
func send(_ *kprobes.Kprobe, regs *amd64.Regs) int {
	queue <- regs.AX
	return 0
}

func start() error {
	probe = &kprobes.Kprobe{SymbolName: "vfs.Read", PreHandler: send}
	return kprobes.RegisterKprobe(probe)
}

func stop() { kprobes.UnregisterKprobe(probe) }
