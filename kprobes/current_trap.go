//go:build tamago

package kprobes

// Trap context.

import (
	"sonde/arch/amd64"
	"sonde/arch/amd64/trap"
	"sonde/kernel/goruntime"
)

// Current tells whose hit a handler is called for. r is what the handler got. It
// costs two loads, and allocates nothing.
//
// Context: trap: a handler of a kprobe, or of a return probe.
func Current(r *amd64.Regs) Context {
	return Context{Goroutine: Task(goruntime.Goid(trap.G(r))), CPU: trap.ID(r)}
}
