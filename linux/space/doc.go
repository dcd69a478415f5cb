// Package space implements the address spaces of programs: what is mapped where, the page
// tables for the processor, and copying between the kernel and a program.
//
// A Space has areas, in a table sorted by address, and page tables. An area says what a
// fault in it means; only faults fill the tables. An area is private or shared, and has a
// Backing (the pages of a file) or none (zeroes).
//
//   - A shared page is the backing's frame itself.
//   - A private page is at first the backing's frame, or the frame of zeroes, and read-only. The first
//     write makes a copy, unless nothing else has a reference to the frame. fork makes the pages of both
//     sides read-only; that is all there is to copy-on-write.
//
// An entry of a last-level table is 0, or holds a frame with one reference. It may hold one
// and not be present: then the area may not be accessed at all.
//
// The kernel never uses a user address directly. CopyIn and CopyOut walk the tables in
// software and use the kernel's own address of the frame, so they neither trap nor depend
// on CR3, and all of this can be tested on the host.
//
// A page table also has the kernel's mappings, which this package leaves alone: its own
// entries have PTE_U, on all levels; the kernel's do not.
//
// Rejected: reserving memory when it is mapped. As on Linux, programs may map more than
// there is. A program that touches a page when no memory is left gets ErrNoMemory, and
// linux/proc chooses a program to end.
//
// Lock order:
//
//	Space.mu, also a parent's before that of the child that it forks
//	  a backing.Store's locks
//	    frame.Pool's
//
// so a holder of a backing.Store's lock must not call a Space.
//
// # Decisions
//
// Page frames come in blocks of 2 MiB from the Go heap's window. A fixed share for programs would
// be wrong for every machine. A block that is all free goes back, and the collector's memory limit
// follows, in steps of 32 MiB because setting it stops the world. An eighth of the memory is never
// given to programs, so the kernel continues when they have taken the rest.
//
// Areas are a sorted slice with room at both ends. A textbook would use a tree. Addresses are
// assigned from the top down, so a new area goes before nearly all others, and only the few below it
// are moved. The slice remembers gaps ("none of this size above here"), which saves looking through
// them.
//
// Empty page tables stay, up to 32 in each space. Before one is freed, all CPUs must be informed,
// even those that are in the kernel: they may read ahead in the tables that CR3 points to. Most
// programs map again where they unmapped. Beyond 32 they are freed. Otherwise a program that maps all
// over its addresses would hold memory that no limit counts.
//
// A change of few pages does not empty the TLB of the CPU that makes it. Each change increments
// the space's generation, and a CPU with an older one reloads CR3 on its way to ring 3. If the CPU
// that makes the change was up to date, it drops the few pages by INVLPG and is up to date again.
//
// The ELF loader refuses what Linux maps and then kills: segments beyond the end of their file or
// out of order, and an entry that nothing executable contains. execve gives the reason at once, in
// words; Linux leaves it to a core file. Addresses are not randomized.
//
// When memory is full, the largest process ends. The process that asks for the last page is often
// a small one, and so is the next. It waits until the largest has ended, at most 5 s, and tries again;
// then another is chosen. A system call that gets no page for what it copies returns an error instead,
// since it may hold a lock that the largest process needs to end.
package space
