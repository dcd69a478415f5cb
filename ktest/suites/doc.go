// Package suites has the kernel's own tests. The shell command ktest, in images built with
// the tag ktest, runs them inside the machine: all cases in one boot, one line each, in the
// format that package qemu/report reads.
//
// This package is the framework: T, Add, Run, and the check for what a case leaves behind.
// Each suite is a folder; its cases register themselves when ktest/ktest_tamago.go
// imports it:
//
//	traps     faults, nesting, registers across a trap
//	memory    what may be read, written and executed
//	sched     goroutines, timers and clock on all CPUs
//	stop      grace periods, stopping the machine, writing code
//	grace     what waits until no CPU is in a slot, a detour or a region
//	symbols   kallsyms, /proc and modules
//	ring      records from handlers to goroutines
//	attach    one handler at places of every kind
//	kprobes   probes in the kernel
//	handlers  handlers that break the rules, and faults in them
//	returns   return probes
//	jumpers   jprobes
//	glass     cameras: each transition of a recorded hit
//	optimized probes that are hit by a jump
//	control   control files, sysctls and the blacklist
//	watch     watchpoints
//	bpf       eBPF programs as handlers
//	tracepoints each event, with its record
//	user      ring 3: entering and leaving, and what a program cannot do
//	programs  processes, with panics, little memory, and long runs
//	uprobes   probes in programs
//	hostile   random calls of the interfaces
//	library   Go's standard library, TamaGo's drivers
//
// Two folders are not suites: targets has the functions that the tests probe, and prove is
// the command that probes everything (docs/proof.md).
//
// A case waits for an event, never for a fixed time; time limits are for a machine that
// hangs, not for a slow one. A case fails if it cannot get what it needs. It is skipped if
// the machine cannot have it.
//
// Rejected: package testing in the kernel (it needs flags, files and a main function, and a
// panic in one case ends all); a boot per case (right where the machine dies, as in
// qemu/endings_test.go; 0.5 s each elsewhere).
package suites
