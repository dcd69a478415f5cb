// Package cpu drives the processors themselves: the clock, the local APIC with
// its timer and interprocessor interrupts, and halting. It serves the machine
// side of the runtime/goos contract.
//
// Most of it runs before the Go runtime, or below its scheduler with interrupts
// off: such functions are nosplit, allocate nothing and say so.
package cpu

// Interrupt vectors. 0x20-0x2f are the legacy interrupts behind the IOAPIC.
const (
	VecLegacy   = 0x20
	VecTimer    = 0xec
	VecStop     = 0xfb // stand still
	VecCall     = 0xfc // run a function on that CPU
	VecWake     = 0xfd // leave Idle
	VecSpurious = 0xff
)

// Forever is the time of an alarm that never comes.
const Forever = 1<<63 - 1
