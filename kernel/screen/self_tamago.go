//go:build tamago

package screen

import "sonde/kernel/cpu"

// cpusKnown is written once at boot.
var cpusKnown bool

// KnowCPUs is for when a CPU can tell which it is.
//
// Context: boot.
func KnowCPUs() { cpusKnown = true }

// self is the number of the CPU that this runs on.
func self() uint32 {
	if !cpusKnown {
		return 0
	}
	return uint32(cpu.ID())
}
