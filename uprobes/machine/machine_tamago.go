//go:build tamago

package machine

import (
	"sonde/arch/amd64"
	"sonde/arch/amd64/user"
	"sonde/kernel/cpu"
	"sonde/kernel/goruntime"
	"sonde/probe/glass"
	"sonde/probe/handler"
	"sonde/uprobes/place"
)

// This returns the machine that the kernel runs on.
func This() Machine {
	if place.Processor = place.Emulator; !cpu.Emulated() {
		place.Processor = place.MakerOf(amd64.Identify(cpu.CPUID).Vendor)
	}
	return Machine{
		Goroutine: func() uint64 { return uint64(goruntime.Task()) },
		InTrap:    cpu.InHandler,
		Shoot:     (*glass.Film).ShootThread,
		Reason:    reason,

		CPU:     cpu.ID,
		Program: Program{user.SaveVectors, user.LoadWord, user.LoadPair, user.SwapWord},
	}
}

// reason is Machine's Reason.
func reason(to *[64]byte) {
	if !cpu.InHandler() {
		copy(to[:], "it has not returned")
		return
	}
	handler.Reason(cpu.ID(), to)
}
