// Package cpu drives the processors themselves: the clock, the local APIC with
// its timer and interprocessor interrupts, and halting. It serves the machine
// side of the runtime/goos contract.
//
// Most of it runs before the Go runtime, or below its scheduler with interrupts
// off: such functions are nosplit, allocate nothing and say so.
package cpu

// Forever is the time of an alarm that never comes.
const Forever = 1<<63 - 1
