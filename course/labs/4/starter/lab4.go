//go:build tamago

// Package lab4 repairs the post office while it runs.
package lab4

import (
	"sonde/arch/amd64"
	"sonde/kernel/module"
	"sonde/kprobes"
)

var probe *kprobes.Kprobe

func init() {
	module.Register(&module.Module{Name: "lab4", Doc: "repair the post office", Init: start, Exit: stop})
}

// repair is called before the first instruction of the function that you put the probe on. What it
// changes in regs is what the function gets.
func repair(p *kprobes.Kprobe, regs *amd64.Regs) int {
	return 0
}

func start() error {
	return nil
}

func stop() {
}
