// Package kwatch is watchpoints: a handler is called whenever an address is written,
// accessed or executed, by whatever code, with the registers, and the value before and
// after. They are the "Kernel Watchpoint Probes" of Linux's kprobes.
//
// The processor does the watching, in its four debug registers. Each CPU has its own, so
// a watchpoint is loaded into all of them before it counts as registered.
//
//	RegisterKwatch ──▶ trap.Watch: what is to be watched ──▶ each CPU: trap.LoadWatch
//
//	MOV, CALL, …  ──#DB──▶ trap.takeDebug: DR6 ──▶ onHit ──▶ handler
//	                                        └─ a step: kprobes
//
// # What a hit is
//
// A data watchpoint is a trap: the instruction has been executed, IP is behind it. An
// execute watchpoint is a fault: the instruction comes next, and RF keeps it from being
// one forever.
//
// The old value is the one that this package saw last: at registration, and at each
// hit since. The new one is read in the hit. So with a write on another CPU in between,
// two hits may show both writes as one, and then none; the sequence of values is right.
//
// # What is not watched
//
// Code and data of the hit's own way would be hit for ever, so it is refused
// (where_tamago.go). What handlers do, and what is done in the way of a hit, counts as
// missed. So does what happens while the machine is stopped.
//
// What QEMU does otherwise than a processor is in docs/decisions.md.
//
// The processor watches addresses, so an instruction is not seen in a copy. A jump of an
// optimized probe that covers one that is watched, other than its first, is taken out,
// and none comes as long as it is watched.
//
// A Go stack moves when it grows: refused. An object of the heap stays where it is as
// long as somebody refers to it: RegisterKwatchObject does. By its bare address it is
// refused.
//
// Locks: mu, then smp's. Hits take none.
//
// Rejected: DR7 off while a handler runs, as Linux does (the write empties QEMU's TLB,
// ten times what a hit costs here); only reads, which the processor cannot do (Read
// compares instead); the LE and GE bits of DR7, which processors since the P6 ignore.
package kwatch
