//go:build tamago

// Package lab4 repairs the post office while it runs. Each of the three repairs does nothing if the
// mistake is another one.
package lab4

import (
	"sonde/arch/amd64"
	"sonde/kernel/module"
	"sonde/kprobes"
)

var probes [3]*kprobes.Kprobe

func init() {
	module.Register(&module.Module{Name: "lab4", Doc: "repair the post office", Init: start, Exit: stop})
}

// weigh: Weigh(e *Envelope, grams int) refuses what is above 1000 g, but 2000 g are allowed.
func weigh(p *kprobes.Kprobe, regs *amd64.Regs) int {
	if regs.BX > 1000 && regs.BX <= 2000 {
		regs.BX = 1000
	}
	return 0
}

// hole: Sort(e *Envelope, hole int) gets holes from 8 on, which are not emptied.
func hole(p *kprobes.Kprobe, regs *amd64.Regs) int {
	regs.BX %= 8
	return 0
}

// mark: Cancel(e *Envelope, mark string) writes more than eight bytes, over the address.
func mark(p *kprobes.Kprobe, regs *amd64.Regs) int {
	regs.CX = min(regs.CX, 8)
	return 0
}

func start() error {
	probes = [3]*kprobes.Kprobe{
		{SymbolName: "load.Weigh", PreHandler: weigh},
		{SymbolName: "load.Sort", PreHandler: hole},
		{SymbolName: "load.Cancel", PreHandler: mark},
	}
	return kprobes.RegisterKprobes(probes[:])
}

func stop() {
	kprobes.UnregisterKprobes(probes[:])
}
