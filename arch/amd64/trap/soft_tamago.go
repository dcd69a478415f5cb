//go:build tamago

package trap

import "unsafe"

// Soft traps are made by code itself, with a jump: package kprobes. Their code is copied, so it
// finds what it needs of this package through the CPU: the place for the frame, and functions that
// the entry stub uses, too.

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
	c.fresh = c.stacks[stackTrap].hi - unsafe.Sizeof(Frame{}) - regSize
	c.choose, c.loadXMM, c.restore = softAddresses()
}
