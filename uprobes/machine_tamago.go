//go:build tamago

package uprobes

import (
	"sonde/arch/amd64"
	"sonde/kernel/cpu"
	"sonde/kernel/goruntime"
	"sonde/uprobes/place"
)

func init() {
	if place.Processor = place.Emulator; !cpu.Emulated() {
		place.Processor = place.MakerOf(amd64.Identify(cpu.CPUID).Vendor)
	}
}

// goroutine returns a number that identifies this goroutine.
func goroutine() uint64 { return uint64(goruntime.Task()) }

// inTrap reports whether this is a handler of a kernel probe.
func inTrap() bool { return cpu.InHandler() }
