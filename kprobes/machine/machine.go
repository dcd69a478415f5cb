// Package machine has what registering, arming and jumping need of the machine, so that
// they can be tested without one. What traps do is not included: that needs a real machine.
package machine

import (
	"errors"
	"time"

	"sonde/kallsyms"
	"sonde/kernel/grace"
	"sonde/kernel/printk"
	"sonde/kernel/text"
	"sonde/kprobes/reach"
)

// This is the machine that probes are on. It is written once, at boot; tests put
// their own here.
var This Machine

// A Machine is what a probed machine can do.
type Machine struct {
	// Code returns the n bytes of code at addr as they are now; nil: not code.
	Code func(addr, n uintptr) []byte
	// Known is where hits of breakpoints call handlers: see trap.Int3.
	Known uintptr
	// Poke replaces one byte of code.
	Poke func(addr uintptr, old, new byte) error
	// Refresh is called when every CPU should execute what was poked at these addresses, for QEMU's sake: see
	// text.Refresh.
	Refresh func(poked []uintptr)
	// Swap stops all CPUs and writes patches, unless a CPU will go on at an
	// address of which standing is true: then ErrRetry.
	Swap func(patches []text.Patch, standing func(ip uintptr) bool) (time.Duration, error)
	// Write fills memory of the pools, where nothing executes yet.
	Write func(addr uintptr, code []byte)
	// Serialize and Drain are what Outside takes.
	Serialize, Drain func()
	// Since is the beginning of a grace period; Grace is a whole one.
	Since func() text.InUse
	Grace func()
	// Advise says in the log what the handler at pc may do that gets it abandoned; it is
	// the role-handler of probe.
	Advise func(role, probe string, pc uintptr)
	// Watch makes all CPUs look for handlers that run too long.
	Watch func()
	// Watched tells whether a debug register waits for what is at addr to be executed:
	// it does not see a copy.
	Watched func(addr uintptr) bool
	// InHandler tells whether this is trap context; Forbid does not return then.
	InHandler func() bool
	Forbid    func(what string)

	CPUs   int    // how many there are
	Memory uint64 // bytes that the kernel may use
	// What the walk of the image says about functions: why fn may not be probed, and whether a
	// handler may change X0-X14, IP or SP of the code that was hit.
	Blacklisted func(fn kallsyms.Symbol) string
	Careful     func(handler any) bool
	NoReturn    func(fn kallsyms.Symbol) string // why no return probe can be on fn, "": it can
	Guard       *reach.Guard                    // where the answers come from; nil on the host

	Slots   *text.Pool // for copies of single instructions, SlotSize bytes each
	Detours *text.Pool // for detours, DetourSize bytes each
}

// How large the pieces of the pools are, in bytes. No detour is on two pages.
const (
	SlotSize   = 32
	DetourSize = 1024
)

// Outside is the change after which every CPU has been outside all handlers.
func (m *Machine) Outside() grace.Change {
	return grace.Change{Each: []func(){m.Serialize}, Then: []func(){m.Drain}}
}

// ErrRetry says that nothing was changed because some CPU stood in the code to
// be replaced.
var ErrRetry = errors.New("a CPU stands in the region")

// Blacklist returns the functions that may not be probed, by address, with the
// reason. Without a machine there is none.
func (m *Machine) Blacklist() map[uint64]string {
	if m.Guard == nil {
		return nil
	}
	return m.Guard.Blacklist(func(err error) { printk.Warn("kprobes: not protected: %s", err.Error()) })
}
