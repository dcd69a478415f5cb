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
// # How a hit works (spec/1 §1.1)
//
// Registering copies the probed instruction into a slot and replaces its first
// byte by INT3. A CPU that comes there traps; the trap layer saves its
// registers and asks the notifier chain, where this package recognizes the
// address. It calls the pre-handlers, has the CPU single-step the copy in the
// slot (the original cannot be stepped in place: another CPU would run past the
// probe meanwhile), takes the debug trap behind it, corrects what the copy did
// by its own address, calls the post-handlers and returns behind the probe.
// docs/how-a-hit-works.md shows one hit with all addresses.
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
// Handlers run in trap context with interrupts off, on several CPUs at once:
// no allocation, no locks, no blocking, no fmt; atomics, fixed arrays and
// printk are fine. A probe hit inside a handler runs no handlers and counts as
// missed.
//
// # Locking
//
//	mu                  all changes: registration, arming
//	  kernel/text.mu
//	  kernel/smp.mu
//
// A hit takes no lock: it reads the table of sites, whose entries are atomic
// pointers to immutable values. What unregistering takes out of the table it
// reuses only after text.Sync, by which every CPU has been outside all handlers.
package kprobes
