//go:build tamago

package handlers

// The module faulty has a handler that does what no handler may do: the recording of an abandoned handler in
// qemu/web/replay is of it.

import (
	"sonde/arch/amd64"
	"sonde/kernel/module"
	"sonde/kprobes"
)

func init() {
	module.Register(&module.Module{Name: "faulty", Doc: "for a recording: a handler that is abandoned", New: func(string) *module.Instance {
		probe := &kprobes.Kprobe{SymbolName: "vfs.Read", PreHandler: enqueue}
		return &module.Instance{Init: func() error { return kprobes.RegisterKprobe(probe) }, Exit: func() { kprobes.UnregisterKprobe(probe) }}
	}})
}

var queue = make(chan uint64, 1)

// enqueue is the handler. A channel may block, and a handler must not.
func enqueue(_ *kprobes.Kprobe, regs *amd64.Regs) int {
	queue <- regs.AX
	return 0
}
