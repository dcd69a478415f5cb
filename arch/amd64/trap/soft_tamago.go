//go:build tamago

package trap

import "unsafe"

// The vectors of soft traps are in no table: they are the CPU's own fields, where
// code that is copied finds them.

// cpus are the CPUs that Install has been called for.
var cpus [MaxCPUs]*CPU

// DetourArg is what the code at DetourAddr loads into R15, which the handler
// finds in Regs.Err: to be replaced in a copy by an address below 2 GB.
const DetourArg = 0x12345678

func returnAddr() uintptr
func detourAddr() uintptr
func softAddresses() (choose, save, load, restore uintptr)

// ReturnAddr returns the address that, put in place of a return address, makes a
// return a trap of VecReturn.
//
// Context: any.
func ReturnAddr() uintptr { return returnAddr() }

// DetourAddr returns where the code begins that makes a trap of VecDetour of the
// code behind it. It is to be copied, up to its UD2.
//
// Context: any.
func DetourAddr() uintptr { return detourAddr() }

// SetSoft makes these the handlers of soft traps.
//
// Context: boot, before the first.
func SetSoft(onReturn, onDetour Handler) {
	for _, c := range cpus {
		if c != nil {
			c.onReturn, c.onDetour = value(onReturn), value(onDetour)
		}
	}
}

// value is what a Handler is: the address of a func value. A function's own is
// static data.
func value(h Handler) uintptr { return *(*uintptr)(unsafe.Pointer(&h)) }

// initSoft fills in what soft traps on c use.
//
// Context: boot, before the runtime.
func (c *CPU) initSoft(id uint32) {
	cpus[id] = c
	c.fresh = c.stacks[stackTrap].hi - unsafe.Sizeof(frame{}) - regSize
	c.choose, c.saveXMM, c.loadXMM, c.restore = softAddresses()
}
