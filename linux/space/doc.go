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
//	Space.mu
//	  a backing.Store's locks
//	    frame.Pool's
//
// so a holder of a backing.Store's lock must not call a Space.
package space

import (
	"syscall"

	"sonde/kernel/mm/frame"
	"sonde/kernel/refusal"
)

// PageSize is the unit of areas.
const PageSize = frame.Size

// Prot is the allowed access to a page; the bits are Linux's PROT_*. 0 allows none.
type Prot uint8

// Kinds of access. The processor has no page that can be written or executed but not read.
const (
	Read  Prot = 1
	Write Prot = 2
	Exec  Prot = 4
)

// Flags are the kind of an area, and how Map chooses its address.
type Flags uint16

// Kinds of areas, and ways to choose their address.
const (
	Shared    Flags = 1 << iota // writes go to the backing, and all that map it see them
	GrowsDown                   // a stack: a fault below it makes it larger
	NoReserve                   // may be larger than the machine's memory
	NoWrite                     // shared, of a file opened read-only: never writable
	Fixed                       // at addr, replacing what is mapped there
	NoReplace                   // at addr, or EEXIST if something is mapped there
	Low                         // below 2 GiB
	Locked                      // mlock: its pages may not be dropped
	NotForked                   // fork does not copy it
	Wiped                       // in a forked space it is zeroes

	kinds = Shared | GrowsDown | NoReserve | NoWrite | Locked | NotForked | Wiped
)

// Errors of a fault. A program gets a signal, a system call returns EFAULT.
var (
	// ErrNotMapped: SIGSEGV, SEGV_MAPERR.
	ErrNotMapped = refusal.New(syscall.EFAULT, "address is not mapped")
	// ErrAccess: SIGSEGV, SEGV_ACCERR.
	ErrAccess = refusal.New(syscall.EFAULT, "address may not be accessed in this way")
	// ErrNoMemory: a program must be ended.
	ErrNoMemory = frame.ErrNoMemory
)

// A Window is a range of addresses, [Start,End).
type Window struct{ Start, End uint64 }

// A Machine has what all spaces of one machine share. Functions may be nil.
type Machine struct {
	Frames   *frame.Pool
	Programs Window // the addresses that programs may use, in whole pages; the kernel has those behind
	RAM      uint64 // bytes; the limit of a private area. 0: unknown
	// SpareTables is how many page tables a space may have before Unmap frees unused ones. Freeing
	// them means telling all CPUs, and most programs map at the same addresses again.
	SpareTables int
	// KernelHalf puts the kernel's mappings into a new root table, without PTE_U.
	KernelHalf func(root *[512]uint64)
	// Shootdown returns when no CPU is in ring 3 of s with an earlier Generation than the present
	// one. Only pages in [start,end) have changed. tables says that page tables are about to be
	// freed, so CPUs in the kernel discard their entries for s, too.
	Shootdown func(s *Space, start, end uint64, tables bool)
	// Retire returns when no CPU has Root in CR3. None is in ring 3 of s.
	Retire func(s *Space)

	spaces registry
}

// Kernel is the machine that this kernel runs on. Written once at boot.
var Kernel *Machine

// Limits of a space, in bytes.
type Limits struct {
	AS    uint64 // of all areas together (RLIMIT_AS)
	Data  uint64 // of the heap (RLIMIT_DATA)
	Stack uint64 // of an area that grows down (RLIMIT_STACK)
}

const (
	unlimited = ^uint64(0)
	// maxAreas is Linux's vm.max_map_count.
	maxAreas = 65530
	// stackGap is the range that stays free below an area that grows down; stackRoom is the range
	// that is left free for it when addresses are chosen.
	stackGap  = 1 << 20
	stackRoom = 128 << 20
)
