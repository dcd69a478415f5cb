// Package handler ends handlers that break the rules of trap context: that fault, allocate, block, panic,
// or never return. A handler is abandoned: the hit continues as if it had returned, its probe is
// disabled, and the log says what it did, on which line.
//
// Its only part in a hit is two stores, before a handler is called and after it has returned: the kind of
// its probe (Kind), and what each CPU knows about its handler (State). Handlers may be
// nested: a watchpoint's on top of a kprobe's. The innermost is the one that is abandoned.
//
// # Handlers that run too long
//
// They are found whatever the other CPUs do. CPU 0 takes an NMI 18 times a second, which nothing can
// delay (irq.StartNMI). It checks itself, and sends an NMI to each CPU that is still in the handler in
// which the last check saw it. So each CPU is measured by itself, with NMIs that it takes in the handler:
// a CPU that the host does not run is not blamed. Each NMI adds the time since the last one to the
// handler's account, but at most maxGap: after a pause of the whole machine the clock has jumped, and
// that counts as one gap. A handler's time is also that of the handlers on top of it, until one of them is
// ended: otherwise one that loops would not be found if it has hits of a watchpoint in its loop.
//
// An eBPF program is not abandoned: it may hold the lock of a key, a queue or a ring, or a record that readers wait
// for, and only it gives them back. It is bounded, as the verifier has counted its instructions. So its probe is
// disabled at once, and the program finishes. The same holds for the scheduler's locks (canEnd).
//
// Without that NMI (command line nmi_watchdog=0, or no such timer) every CPU's timer interrupt does the
// same. A handler that was called by a jump takes it and can be ended there. A handler that was called
// by a trap has interrupts off, so another CPU must notice it: if all CPUs are in such handlers, none is
// found.
//
// Rejected: noting each lock that a program takes, to give it back (instructions in each update, and a value or a
// record that is half written); ending a program when it is in none (two instructions in each call of a helper);
// RDTSC before and after each handler (a tenth of a hit by a jump, and it measures pauses of
// the host as well); an NMI to every CPU each time (it wakes idle CPUs).
//
// Source: the NMI by the I/O APIC is that of Linux 2.6, Documentation/nmi_watchdog.txt.
package handler
