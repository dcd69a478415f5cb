// Package cpu drives the processors: the clock, the local APIC with its timer and
// interprocessor interrupts, and halting. It implements the machine's side of the
// runtime/goos contract.
//
// Most of it runs before the Go runtime, or below its scheduler with interrupts off: such
// functions are nosplit, do not allocate, and say so.
package cpu
