//go:build tamago

package tracefs

import "sonde/kernel/cpu"

// now is the time since boot in ns.
func now() int64 { return cpu.Nanotime() }

func numCPU() int { return cpu.Num() }
