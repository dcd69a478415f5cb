//go:build tamago

package trap

import "unsafe"

// Soft traps are made by code itself, with a jump: package kprobes. Their code is copied, so it
// finds what it needs of this package through the CPU: the place for the frame, and functions that
// the entry stub uses, too.

// SetProbes stores probes(id) in the field of that name, where CPU id's soft traps find it.
//
// Context: boot, before the first.
func SetProbes(probes func(id int) uintptr) {
	for id, c := range cpus {
		if c != nil {
			c.probes = probes(id)
		}
	}
}

func softAddresses() (choose, load, restore uintptr)

// initSoft fills in what soft traps on c use.
//
// Context: boot, before the runtime.
func (c *CPU) initSoft(id uint32) {
	cpus[id] = c
	c.fresh = c.stacks[stackTrap].hi - unsafe.Sizeof(Frame{}) - regSize
	c.choose, c.loadXMM, c.restore = softAddresses()
}
