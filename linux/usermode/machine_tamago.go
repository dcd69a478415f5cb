//go:build tamago

package usermode

import (
	"sonde/arch/amd64/trap"
	"sonde/arch/amd64/user"
	"sonde/kernel/cpu"
	"sonde/kernel/mm"
	"sonde/kernel/mm/frame"
	"sonde/linux/space"
)

const (
	// lowest is the lowest address that a program may use, so that a nil pointer with an
	// offset still faults: Linux's vm.mmap_min_addr.
	lowest = 64 << 10
)

// machine is what all spaces of programs share.
func machine() *space.Machine {
	return &space.Machine{
		Frames:   frame.Kernel,
		Programs: space.Window{Start: lowest, End: user.End},
		RAM:      mm.Usable,
		// 128 KiB for each program save most calls of Retire.
		SpareTables: 32,
		KernelHalf:  mm.Tables.UpperHalf,
		Shootdown:   shootdown,
		Retire:      func(s *space.Space) { Retire(s.Root()) },
	}
}

// fewPages is for how many pages this CPU forgets each by itself: to load CR3 empties its
// whole TLB, which takes longer to fill again.
const fewPages = 8

// shootdown is Shootdown for a space. Where tables are going to be freed, no CPU may
// have them in CR3 either: it may look at them of itself.
func shootdown(s *space.Space, start, end uint64, tables bool) {
	root := s.Root()
	if !tables && end-start <= fewPages*space.PageSize {
		forget(root, s.Generation().Load(), start, end)
	}
	Shootdown(root)
	if tables {
		Retire(root)
	}
}

// forget takes [start,end) out of this CPU's TLB, so that it need not be emptied for the
// given generation of the tables at root, if the CPU knows all before it. Usually
// it does: it has come from ring 3 with the fault or call that changed them.
//
// It is nosplit because a stack check might change the CPU.
//
//go:nosplit
func forget(root, generation, start, end uint64) {
	flags := cpu.IRQOff()
	if r := &trap.Self().Ring3; r.CR3 == root && r.Generation == generation-1 {
		for page := start; page < end; page += space.PageSize {
			cpu.Invlpg(uintptr(page))
		}
		r.Generation = generation
	}
	cpu.IRQRestore(flags)
}
