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
// The end of this comment says where QEMU differs from a processor: above all, a watchpoint in the kernel is reported
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
//
// # Decisions
//
// The trap layer distinguishes the causes of #DB only while something is watched. The #DB of a
// step and that of a watchpoint share a vector and DR6. Reading and clearing DR6 at each #DB would
// make every single-stepped probe slower. So the handler of #DB is the one for steps (kprobes) until a
// watchpoint is registered. Then it is takeDebug (arch/amd64/trap/debug_trap.go), which asks DR6.
// The hit is reported before the step: the access came first, and post-handlers may make the next one.
//
// A step over a watched access has a gate of its own. A processor makes one #DB of both. QEMU
// makes two, and the second comes before the first instruction of the first one's entry: on an IST
// stack, that overwrites the frame, and the machine loops for ever. Switching the watchpoints off for
// the step would lose the access. Evaluating the instruction's operands beforehand would have to be
// right for every instruction. So the step runs with an IDT whose #DB has no stack of its own, and the
// entry drops a #DB at its own first instruction (arch/amd64/trap/debug_step_trap.go). If the
// interrupted stack has no room, nothing is watched in that step, and what it hits is lost.
//
// DR7 is not changed while a watchpoint's handler runs. Linux turns all watchpoints off at entry,
// and on again. Here, what the handler accesses traps again, is recognized as nested, and counts as
// missed. Two writes of DR7 would cost more than the hit: QEMU drops its translations of the watched
// page at each.
//
// An address in the heap cannot be watched; a pointer can. The object could be freed, and the
// address could then belong to another. RegisterKwatchObject keeps the pointer, so the object is not
// freed, and Go does not move objects of the heap. Stacks move, so addresses on a stack are refused.
// Taking the address of a local variable for this puts it into the heap.
//
// A watchpoint in a program's memory calls its handler in the thread's goroutine. The #DB of ring
// 3 is an event: the thread has left ring 3, its registers are in its Context, and the way out keeps
// DR6 there (the goroutine might read another CPU's). So the handler may allocate, lock and wait.
// One that never returns keeps the goroutine, but not the thread: that ends without it, as with user
// probes.
// Debug registers know addresses only, so each CPU watches for all processes, and hits of others are
// dropped. What the kernel writes into a program's memory goes by another address, and is not seen.
// One gap remains: on a processor, though not in QEMU, a program can delay a #DB by MOV SS until the
// kernel's first instruction, where GS is still the program's.
//
// No watchpoints by page protection, for now. The idea: make the page read-only, take the #PF, let
// the instruction write by a step with the page writable, compare. But the kernel's data is mapped in
// 2 MiB pages, so its tables would have to be split. All CPUs share the tables, so others could write
// unseen during the step unless each CPU had its own. And the trap path itself writes to pages of the
// same data segment, where a #PF during a #PF is fatal. So four registers have to suffice. In QEMU,
// page protection would even be cheaper: a page fault and a step are two traps, and a write watchpoint
// takes several times as long as a single-stepped probe (rows k and w of bench). But each other
// access to the page would take two traps as well, and so would each variable beside it that the
// scheduler writes.
//
// What QEMU 7.2 does differently from a processor.
//
//   - Of the watchpoints that one instruction hits, it reports one. kwatch works out the others: where
//     each access of the one is an access of the other, where the old and the new value of the one
//     differ in bytes of the other, and where the instruction is a MOVS, by its registers. Not reported:
//     a write of the same value within a watchpoint of reads and writes, and the store of a PUSH or POP
//     whose load was watched.
//   - The same happens if two processes watch one address, each in a register of its own: only the first
//     register is reported, whichever process runs. kwatch looks for the running process's watchpoint
//     after another's. If the two overlap in part, a hit that changes nothing there is not reported.
//   - An instruction that loads what is watched and whose store causes a page fault is reported at the
//     first instruction of the fault's entry, where GS may be a program's. entryWatch drops that, and
//     the instruction is reported when it is executed again.
//   - On a processor, what MOV SS loads is reported after the next instruction. If that is a program's
//     SYSCALL or INT3, it is the first instruction of an entry, too. QEMU's emulator does not do this,
//     so processors have an entry of their own, entryWatchReal, which drops such a report. It takes
//     four instructions more.
//   - For an unaligned store, it looks at all of the page below the store. In programs, a hit without a
//     change is dropped if the code before IP can only be such a store above what is watched
//     (kwatch/above.go). In the kernel such a hit is reported, with the same old and new value,
//     because the decoder is kept out of the path of hits.
//   - It remembers that a data watchpoint was hit until something else of its page is accessed, and says
//     so in DR6 whenever a step ends. A step that really hit has a second #DB, which entryDebug marks
//     in the first one's frame. On a machine that says it is QEMU's emulator, bits without the mark are
//     dropped (hitInStep; watch/step_after_a_hit). A program that steps itself sometimes gets a hit
//     twice, with old and new value the same.
//   - With several CPUs, it executes atomic instructions (LOCK, XCHG) directly in memory if a page is
//     watched for both reads and writes, so a watchpoint of both does not see them. If only writes are
//     watched, it stops the other CPUs for them, and ignores that no interrupt may come between finding
//     the hit and reporting it. What the interrupt's code accesses in the same page is then reported as
//     well, with the same old and new value; kwatch drops that if it is a LOCK CMPXCHG, as in taking a
//     lock (kwatch/locked_trap.go).
//   - The trap itself takes about ten times as long as a breakpoint, because QEMU translates the code
//     anew (rows bare_w and bare_x of bench).
//
// kwatch asks kprobes four things, through boot, since the two do not import each other: what may
// not be watched for execution, which jumps an execute watchpoint ends, what a handler may change,
// and where it has moved IP (Others). Who ends a handler, and whose it was, no kind asks another:
// probe/handler looks at the frames, so the order of registration does not matter.
package kwatch
