// Package kprobes probes the running kernel: at almost any instruction, a probe calls handlers before
// and after it, and the code does not notice.
//
//	k := &kprobes.Kprobe{
//		SymbolName: "sonde/kernel/vfs.Read",
//		PreHandler: func(k *kprobes.Kprobe, r *amd64.Regs) int { hits++; return 0 },
//	}
//	err := kprobes.RegisterKprobe(k)
//	defer kprobes.UnregisterKprobe(k)
//
// # How a hit works (kprobes.txt §1.1)
//
// Registering copies the probed instruction into a slot and replaces its first byte with
// INT3. A CPU that reaches it traps; the trap layer saves its registers and calls this
// package, which looks up the address in the table of points. It calls the pre-handlers,
// then makes the CPU run the copy in the slot. (Stepping the original in place would let
// other CPUs run past the probe.) The copy ends with a jump back to the next instruction;
// or, if there is a post-handler, it is single-stepped, and the post-handlers are called in
// the debug trap after it. docs/how-a-hit-works.md shows one hit with all addresses.
// [place.Way] lists the ways in which an instruction can be executed.
//
// Instructions that depend on their address (branches, calls, returns) or on the flags that
// stepping changes (pushf, popf, cli, sti) are emulated on the saved registers instead.
//
// # Function entries in Go
//
// A Go function begins with a stack check: it compares SP with the stack's limit. If the
// stack is too small, or the scheduler wants the CPU, it calls morestack, which restarts
// the function from its first byte. Such a first attempt does not count as a hit of
// symbol+0: N calls give N hits. The hit itself decides the check, once
// (arch/amd64/prologue), so that nothing can change between counting and running.
//
// # Rules for handlers
//
// Handlers run in trap context, on several CPUs at once. They must not allocate, lock,
// block or use fmt; atomics, fixed arrays and printk are fine. Handlers called by a trap
// run with interrupts off. Handlers called by a jump (optimized probes) and handlers of
// return probes run with the interrupt flag of the probed code (kprobes.txt §5). A probe
// that is hit inside a handler calls no handlers and counts as missed. A handler that
// breaks the rules is abandoned and its probe disabled. Registering inside a handler
// returns EDEADLK. [Current] says which goroutine and which CPU were hit.
//
// # Locking
//
//	mu                  all changes: registration, arming
//	  the locks of the pools (kernel/text)
//	  kernel/smp.mu
//
// A hit takes no lock: it reads the table of points, whose entries are atomic pointers to
// immutable values. What unregistering removes from the table is reused only after every
// CPU has been outside all handlers. Slots and detours are reused only after a grace period
// (kernel/grace), because a CPU may be interrupted in their copies.
//
// # On the host
//
// Registering, arming and jumping need about a dozen functions of the machine, which are
// fields of machine.Machine. So the package compiles on the host, where nothing can be
// probed, and the tests there use a fake machine.
package kprobes
