// Package suites is the kernel's own tests, run inside the machine by the
// shell command ktest: one boot, all cases, one line each in the format that
// package qemu/report reads.
//
// This package is the frame: T, Add, Run, and the count of what was left
// behind. The cases are in a folder per suite and register themselves when
// boot imports them (boot/ktest_tamago.go, tag ktest only):
//
//	targets   what is probed: Go functions, and every instruction shape
//	traps     faults, nesting, registers across a trap
//	user      ring 3: entering and leaving, and what a program cannot do
//	memory    what may be read, written and executed
//	sched     goroutines, timers and clock on all CPUs
//	stop      grace periods, stopping the machine, writing code
//	symbols   kallsyms, /proc and modules
//	probes    kprobes
//	optimized probes that are hit by a jump
//	watch     watchpoints
//	grace     what waits until no CPU is in a slot, a detour or a region
//
// Package prove below is no suite: its command probes everything (docs/proof.md).
//
// A case asks for what it waits for and never sleeps in hope; limits are for a
// machine that hangs, not for a slow one. What a case needs and cannot get is a
// failure, unless the machine it runs on cannot have it: then a skip.
//
// Rejected: package testing in the kernel (flags, files, a main of its own, and
// a panic in one case ends all); a boot per case (as in the endings of
// qemu/endings_test.go: right where the machine dies, 0.5 s each elsewhere).
package suites
