// Package kwatch provides watchpoints: a handler is called whenever an address is written,
// accessed or executed, with the registers, and the value before and after. They are the
// "Kernel Watchpoint Probes" of Linux's kprobes.
//
// The processor watches, with its four debug registers. Each CPU has its own, so a
// watchpoint is loaded into all of them before it counts as registered.
//
//	RegisterKwatch ──▶ trap.Watch: what is to be watched ──▶ each CPU: trap.LoadWatch
//
//	MOV, CALL, …  ──#DB──▶ trap.takeDebug: DR6 ──▶ onHit ──▶ handler
//	                                        └─ a step: kprobes
//
// # What a hit is
//
// A data watchpoint is a trap: the instruction has been executed, and IP is after it. An
// execute watchpoint is a fault: the instruction comes next, and RF prevents it from
// hitting again.
//
// The old value is the last one this package has read: at registration, and at each hit.
// The new one is read in the hit. If another CPU writes in between, the first hit may show
// both writes as one, and the second no change; but no value is out of order.
//
// # What is not watched
//
// Code and data that a hit itself uses would be hit endlessly, so they are refused
// (where_tamago.go). Accesses by handlers and by hits count as missed, and so do those
// while the machine is stopped.
//
// Nothing is watched during the single step of a probed instruction whose stack has too little
// space left for the frames of two #DBs (arch/amd64/trap, debug_step_trap.go). The list of watchpoints
// says how many such steps there were.
//
// docs/decisions.md says where QEMU differs from a processor: above all, a watchpoint in the kernel is told of
// unaligned stores above it in the same page, with the same old and new value, and with several CPUs one of reads
// does not see locked instructions (Unseen).
//
// The processor watches addresses, so it does not see an instruction executed in a copy. If
// an instruction other than the first under the jump of an optimized probe is watched, the
// jump is removed, and stays out as long as the instruction is watched.
//
// Addresses on a Go stack are refused, because the stack moves when it grows. An object in
// the heap stays in place as long as it is referred to; RegisterKwatchObject does that. Its
// bare address is refused.
//
// Locks: mu, then smp's. Hits take none.
//
// Rejected: clearing DR7 while a handler runs, as Linux does (the write empties QEMU's TLB,
// which costs ten times as much as a hit); watching only reads, which the processor cannot
// do (Read compares values instead); the LE and GE bits of DR7, which processors since the
// P6 ignore.
package kwatch
