// Package space implements the address spaces of programs: what is mapped where, the page
// tables for the processor, and copying between the kernel and a program.
//
// A Space has areas, in a table sorted by address, and page tables. An area says what a
// fault in it means; only faults fill the tables. An area is private or shared, and has a
// Backing (the pages of a file) or none (zeroes).
//
//   - A shared page is the backing's frame itself.
//   - A private page is at first the backing's frame, or the frame of zeroes, and read-only. The first
//     write makes a copy, unless nobody else has a reference to the frame. fork makes the pages of both
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
package space
