//go:build tamago

package trap

import (
	"unsafe"

	"sonde/arch/amd64"
)

// Soft traps are made by code itself, with a jump: package kprobes. Their code is copied, so it
// finds what it needs of this package through the CPU: the trap stack, and functions that the entry
// stub uses, too. Above each trap stack is the frame of soft traps that interrupt something else.
// It is theirs alone, so that what is the same in each is written once.

// States calls f with each CPU's State, which is zero.
//
// Context: boot, before the first soft trap.
func States(f func(id int, s *State)) {
	for id, c := range cpus {
		if c != nil {
			f(id, &c.State)
		}
	}
}

func softAddresses() (choose, load, restore uintptr)

// initSoft fills in what soft traps on c use.
//
// Context: boot, before the runtime.
func (c *CPU) initSoft(id uint32) {
	cpus[id] = c
	c.probes = uintptr(unsafe.Pointer(&c.State))
	hi := c.stacks[stackTrap].hi
	c.fresh = hi - frameSize
	c.choose, c.loadXMM, c.restore = softAddresses()
	// Safe because: Layout has left room for it there.
	f := *(**struct {
		Frame
		amd64.Regs
	})(unsafe.Pointer(&hi))
	f.cpu, f.probes = uint64(id), c.probes
	f.CS, f.SS = amd64.SelKernelCode, amd64.SelKernelData
}
