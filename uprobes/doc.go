// Package uprobes probes programs: a probe on any instruction of a process, or on the
// return of any function, calls a handler in the kernel.
//
// # How a hit works
//
// Registering puts a breakpoint over the first byte of the instruction, in the process's
// own copy of the page (space.Break). A thread that executes it leaves ring 3 with a #BP,
// in its own goroutine. This package's engine (proc.Engine) gets the #BP before it would
// become SIGTRAP:
//
//	thread's loop ── #BP ──▶ hit: the handlers, in order     (they may block)
//	                         the requests that they queued    (queue.go)
//	                         the instruction                   (execute.go)
//	ring 3 ◀──────────────── after the instruction, or in its slot
//
// If all handlers of the point are trap-safe (Uprobe.TrapSafe), none of this is needed: they are
// called where the #BP arrives, on the CPU's trap stack and on the same data, and the thread
// does not leave ring 3 (hit_trap.go, return_trap.go). If such a hit cannot be completed
// there, it moves to the goroutine. tie.go says which hits are handled so, and for which threads.
//
// Package place decides how the instruction is executed: not at all, by emulation, or as a
// copy in a slot, which is single-stepped or ends with a jump back. Slots are in pages that
// are mapped into the process; its maps show them as [uprobes] (slot.go).
//
// # The types
//
//	text    what is probed in one address space: points, slots. Shared after vfork.
//	task    a process and its probes
//	thread  what a thread is doing, and its calls that return probes wait for
//	point   an instruction: how it is executed, and the probes on it, in order
//	member  a registered probe
//
// Hits look points up without a lock. All changes are made with mu held. A hit that finds
// no point looks at the memory of the program: if no breakpoint is there any more, it has just
// been removed, and the instruction is executed.
//
// A handler runs in an ordinary goroutine with no lock held. It may sleep, use files, and
// register kernel probes. When it registers or removes user probes, the order is queued and
// carried out after all handlers of the point have run; the call returns EINPROGRESS.
//
// # What was rejected
//
// Stopping all threads of a process to change a byte (Hold, like utrace's quiesce): it
// makes system calls fail with EINTR. It is enough that no thread is in ring 3 while the
// byte changes, and changing a page table ensures that anyway.
//
// Locks: mu, then those of proc.Table and space.Space.
//
// Source: Documentation/uprobes.txt of the uprobes patches for Linux 2.6.
package uprobes
