//go:build tamago

package handler

import (
	"sync"

	"sonde/arch/amd64"
	"sonde/kernel/cpu"
	"sonde/kernel/irq"
	"sonde/kernel/printk"
	"sonde/kernel/smp"
)

// Watch makes all CPUs look for handlers that run too long. It starts with the first probe and never
// stops: a few interrupts a second cost next to nothing.
func Watch() { start() }

var start = sync.OnceFunc(func() {
	err := irq.StartNMI()
	if byNMI.Store(err == nil); err == nil {
		return
	}
	printk.Warn("handlers: %s; those that never return, with interrupts off, on all CPUs at once are not found", err.Error())
	irq.OnTick(func(r *amd64.Regs, _ int64) { watch(cpu.ID(), r, true) })
	smp.TickEvery(timerEvery)
})
