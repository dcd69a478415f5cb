//go:build tamago

package kprobes

// Trap context.

import (
	"sonde/arch/amd64"
	"sonde/arch/amd64/trap"
	"sonde/kernel/goruntime"
)

func current(r *amd64.Regs) Context {
	return Context{Goroutine: Task(goruntime.Goid(trap.G(r))), CPU: trap.ID(r)}
}
