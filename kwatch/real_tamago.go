//go:build tamago

package kwatch

import (
	"unsafe"

	"sonde/arch/amd64"
	"sonde/arch/amd64/debugreg"
	"sonde/arch/amd64/trap"
	"sonde/kernel/cpu"
	"sonde/kernel/grace"
	"sonde/probe/handler"
)

var this = machine{
	cpus: cpu.Num, set: setAll, each: trap.LoadWatch, unwatched: trap.Unwatched, read: peek, refuse: refuse, blind: trap.BlindSteps,
	careful: func(any) bool { return true }, record: record,
}

// setAll implements machine.set.
func setAll(s *debugreg.Set) {
	handler.Watch()
	if !trap.Watch(s) {
		panic("kwatch: a watchpoint that no processor can have") // check has refused it
	}
}

// peek is read for a goroutine. No watchpoint reports it, as none reports what hits read.
func peek(addr uintptr, length int) uint64 {
	flags := cpu.IRQOff()
	defer cpu.IRQRestore(flags)
	st := &states[cpu.ID()].state
	st.Frame, st.nmi, st.reading = ^uintptr(0), false, true
	v := read(addr, length)
	st.Frame, st.reading = 0, false
	return v
}

// handlerMoved is Others.Moved.
var handlerMoved func(addr, code uintptr, owner string, r *amd64.Regs, ip, sp uint64)

// Others has what this package needs from other kinds of probes, without importing them.
type Others struct {
	// NoProbe returns why the function at addr cannot be probed, or "" if it can.
	NoProbe func(addr uintptr) string
	// Recheck is called when an execute watchpoint comes or goes: the jump of an optimized
	// probe executes a copy, so it must be removed.
	Recheck func(addr uintptr) grace.Change
	// Careful reports whether a handler may change X0-X14, or IP or SP of the registers that it
	// gets, whatever it calls.
	Careful func(handler any) bool
	// Moved keeps the fact that the handler at code, of the watchpoint at addr, has changed IP or SP
	// of r, for a crash that may follow. These are the values before.
	// Context: trap, with X0-X14 saved.
	Moved func(addr, code uintptr, owner string, r *amd64.Regs, ip, sp uint64)
}

// Init connects this package with the trap layer.
//
// Context: boot, goroutine.
func Init(o Others) {
	this.recheck = o.Recheck
	noProbe, handlerMoved = o.NoProbe, o.Moved
	this.careful = o.Careful
	trap.SetWatcher(onHit)
	emulated = cpu.Emulated()
	trap.SetDoubles(emulated)
	handlers.Register(&states[0].State, unsafe.Sizeof(states[0]))
}
