package space

import (
	"sync/atomic"

	"sonde/kernel/mm/frame"
)

// A Window is a range of addresses, [Start,End).
type Window struct{ Start, End uint64 }

// A Machine has what all spaces of one machine share. Functions may be nil.
type Machine struct {
	Frames   *frame.Pool
	Programs Window // the addresses that programs may use, in whole pages; the kernel has those after
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
	areas  atomic.Int64 // of all spaces
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
