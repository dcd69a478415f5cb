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
	NoOther                     // maps no other pages later on: neither by Remap nor by Repage
	NotDumped                   // a core file does not have it
	OfKernel                    // the kernel's own, which the program has not asked for: it counts against no limit

	kinds = Shared | GrowsDown | NoReserve | NoWrite | Locked | NotForked | Wiped | NoOther | NotDumped | OfKernel
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
