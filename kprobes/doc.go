// Package kprobes breaks into live kernel code: at almost any instruction a
// probe calls handlers before and after it, without the code knowing.
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
// Registering copies the probed instruction into a slot and replaces its first
// byte by INT3. A CPU that comes there traps; the trap layer saves its registers
// and calls this package, which finds the address in the table of sites. It calls
// the pre-handlers and has the CPU run the copy in the slot (the original cannot be
// stepped in place: another CPU would run past the probe meanwhile): with a jump
// back behind it, or, if there is a post-handler, under a single step, after whose
// debug trap the post-handlers are called. docs/how-a-hit-works.md shows one hit with
// all addresses. [place.How] lists the ways in which an instruction gets done.
//
// Instructions that depend on where they stand (branches, calls, returns) or
// on the flags that stepping changes (pushf, popf, cli, sti) are not stepped
// but emulated on the saved registers.
//
// # Function entries in Go
//
// A Go function first compares SP with its stack's limit and, if there is no
// room or the scheduler wants the CPU, calls morestack, which afterwards starts
// the function again from its first byte. At symbol+0 such a first try is not a
// hit: N calls give N hits. The check is decided once, by the hit itself
// (arch/amd64/prologue), so that nothing can change between counting and running.
//
// # Rules for handlers
//
// Handlers run in trap context, on several CPUs at once: no allocation, no locks, no
// blocking, no fmt; atomics, fixed arrays and printk are fine. Those that a trap
// calls run with interrupts off. Those that a jump calls (optimized probes), and the
// handlers of return probes, run with interrupts as the probed code has them
// (kprobes.txt §5). A probe hit inside a handler runs no handlers and counts as missed.
// A handler that breaks the rules is abandoned, and its probe disabled. In a handler,
// registering answers EDEADLK. [Current] tells whose hit it is.
//
// # Locking
//
//	mu                  all changes: registration, arming
//	  the locks of the pools (kernel/text)
//	  kernel/smp.mu
//
// A hit takes no lock: it reads the table of sites, whose entries are atomic
// pointers to immutable values. What unregistering takes out of the table is used
// again only when every CPU has been outside all handlers; slots and detours, in
// whose copies a CPU may be interrupted, only after a grace period (kernel/grace).
//
// # Without a machine
//
// Registering, arming and jumping need about a dozen functions of the machine, a
// value of package machine. So they compile on the host, where there is nothing to be
// probed, and are tested there against a made-up one.
package kprobes
