//go:build tamago

package uprobes

import (
	"sonde/kernel/cpu"
	"sonde/kernel/goruntime"
)

// goroutine returns the goroutine that this is, as a number.
func goroutine() uint64 { return uint64(goruntime.Task()) }

// inTrap reports whether this is the handler of a probe of the kernel.
func inTrap() bool { return cpu.InHandler() }
