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
// does not leave ring 3. If such a hit cannot be completed there, it moves to the goroutine. What
// both do is one code, compiled for each (side). point.publish says which hits are handled so, and thread.tie
// for which threads.
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
// A handler that is not trap-safe runs in the goroutine of its thread with no lock held. It may sleep, use files, and
// register kernel probes. When it registers or removes user probes, the order is queued and
// carried out after all handlers of the point have run; the call returns EINPROGRESS.
//
// # What was rejected
//
// Stopping all threads of a process to change a byte (Hold, like utrace's quiesce): it
// makes system calls fail with EINTR. It is enough that no thread is in ring 3 while the
// byte changes, and changing a page table ensures that anyway.
//
// # Slots
//
// Slots are pages of a mapping with a backing of its own. A program that drops the page gets the same again, a child
// of fork returns by the same trampoline, and several pages can be placed within reach of operands relative to IP.
// Where no page is free within reach, they share one that is far away, and a register holds the operand's address
// while the copy is stepped. The pages do not count against RLIMIT_AS, since the program has not asked for them. A
// slot is kept for its instruction for the life of the process. To free it, all threads would have to be asked where
// they are, which costs more than 32 bytes.
//
// # Calls that return probes wait for
//
// Calls with a user return probe are found by their stack slot, and forgotten only when it is certain that they were
// left. Coroutines would pop a stack of calls wrongly, and forgetting all calls below SP would be as wrong. So there
// are two structures: a stack, whose slots only fall, and a table by slot. Calls that SP has moved above go into the
// table, and count as left. If such a call does return, as a coroutine's does, it is found there. A call is forgotten
// when its slot is used again or holds something else. Longjmp leaves at most as many calls as the stack has slots,
// until the thread ends. The slots are looked at when there are twice as many calls as last time, so a call costs the
// same 1,000 deep and 16,000 deep (rows ur_1000 and ur_16000 of bench).
//
// All programs together have 131,072 of these calls at the same time; others are missed. A call takes the kernel some
// 120 bytes and more, the program as few as 8. Without a bound, a function that calls itself without an end would take
// the kernel's memory before the program's stack ends. A child of fork has its parent's calls once more; where there
// is no room for them, its memory gets their return addresses instead.
//
// The data of a call is where the call is noted. With a pool for each probe, as return probes of the kernel have, the
// data of calls that longjmp has left would have to be freed, but such calls return after all when a coroutine
// continues. So the entry in the thread's list has the data, and the collector frees it. What a call of that depth has
// had is kept for the next one, up to 32 words, so that trap context finds it there.
//
// The calls of a Go function are those of its goroutine, if they have data. Without data, nothing needs to know which
// call it is that returns. With data, the stack slot does not say it, since stacks move, nor does the thread. What
// stays is how far the return address is below the upper end of the goroutine's stack. R14 has the g, at a function's
// beginning and at its end, and a g begins with these bounds. Nothing else of the runtime is needed, and nothing of
// that depends on the version of Go. If a program falsifies R14, only the data about its own calls is wrong. A list
// that another thread is using is not entered, and that call is missed.
//
// Locks: mu, then those of proc.Table and space.Space.
//
// Source: Documentation/uprobes.txt of the uprobes patches for Linux 2.6.
package uprobes
