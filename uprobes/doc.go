// Package uprobes breaks into programs: a probe on any instruction of a process, and
// on the return of any function, calls a handler in the kernel.
//
// # How a hit works
//
// Registering puts a breakpoint over the first byte of the instruction, in a page that
// the process has for itself (space.Break). A thread that executes it comes back from
// ring 3 with a #BP, in its own goroutine, which is told to this package by its engine
// (proc.Engine) before it would become SIGTRAP:
//
//	thread's loop ── #BP ──▶ hit: the handlers, in order     (they may block)
//	                         what they have queued            (queue.go)
//	                         the instruction                   (execute.go)
//	ring 3 ◀──────────────── behind the instruction, or in its slot
//
// How the instruction is done says package place: nothing, emulated, or a copy of it in a
// slot, single-stepped or with a jump back behind it. Slots are in pages that are mapped
// into the process and shown as [uprobes] in its maps (slot.go).
//
// # Who knows what
//
//	text    what is probed of one address space: points, slots. Shared after vfork.
//	task    a process and its probes
//	thread  what a thread is in the middle of, and its calls that a return probe waits for
//	point   an instruction: how it is done, and the probes on it, in order
//	member  a registered probe
//
// Hits look points up without a lock. All changes are made with mu held; who has looked
// in vain looks again with it, since the breakpoint may have gone meanwhile.
//
// A handler runs in an ordinary goroutine with no lock held. It may sleep, use files,
// and register probes of the kernel. When it registers or removes user probes, that
// is put into a queue, and done when all handlers of the point have run: so its answer is
// EINPROGRESS.
//
// # What is rejected
//
// Stopping all threads of a process to change a byte (Hold, as utrace's quiesce): it
// makes system calls fail with EINTR. That no thread is in ring 3 while the byte changes is
// all that is needed, and what changing a page table does anyway.
//
// Locks: mu, then those of proc.Table and space.Space.
//
// Source: Documentation/uprobes.txt of the uprobes patches for Linux 2.6.
package uprobes
