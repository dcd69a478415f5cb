// Package perf makes the files of perf_event_open(2): each counts something, can write samples into memory
// that a program maps, and can run an eBPF program.
//
//	software      clocks as ticks, page faults as a probe on what serves them; what programs put out
//	tracepoint    by its number: see Tracepoints
//	breakpoint    a watchpoint
//	kprobe, uprobe  a function of the kernel, an instruction of a program's file
//
// There are two ways to run a program. At kprobes, uprobes and tracepoints it is called at each hit on all
// CPUs, in all processes, whatever the event counts: as in Linux. At others it is called when the event's
// period is over, on its CPU and in its thread.
//
// There is no counter of the processor's: emulated ones have none, and those of real ones are not read.
//
// Locks: Event.mu; a group's leader first. Hits take none.
//
// Source: Linux, perf_event_open(2), uapi/linux/perf_event.h.
package perf
