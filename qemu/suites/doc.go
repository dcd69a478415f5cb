// Package suites is the kernel's own tests, run inside the machine by the
// shell command ktest: one boot, all cases, one line each in the format that
// package qemu/report reads.
//
// This package is the frame: T, Add, Run, and the count of what was left
// behind. The cases are in a folder per suite and register themselves when
// boot imports them (boot/ktest_tamago.go, tag ktest only):
//
//	traps     faults, nesting, registers across a trap
//	memory    what may be read, written and executed
//	sched     goroutines, timers and clock on all CPUs
//	stop      grace periods, stopping the machine, writing code
//	grace     what waits until no CPU is in a slot, a detour or a region
//	symbols   kallsyms, /proc and modules
//	probes    kprobes
//	handlers  what a handler may not do, and what becomes of it
//	returns   return probes
//	jumpers   jprobes
//	optimized probes that are hit by a jump
//	control   control files and sysctls, the blacklist
//	watch     watchpoints
//	user      ring 3: entering and leaving, and what a program cannot do
//	programs  processes, with panics, memory that is short, and soaks
//	uprobes   probes in programs
//	hostile   random calls of the interfaces
//	library   TamaGo's drivers link and work
//
// Two folders are no suites: targets has what is probed, Go functions and every
// instruction shape, and prove is a command that probes everything (docs/proof.md).
//
// A case waits for an event, never for a time; limits are for a machine that
// hangs, not for a slow one. A case fails if it cannot get what it needs. It is
// skipped if the machine that it runs on cannot have it.
//
// Rejected: package testing in the kernel (flags, files, a main of its own, and
// a panic in one case ends all); a boot per case (as in the endings of
// qemu/endings_test.go: right where the machine dies, 0.5 s each elsewhere).
package suites
