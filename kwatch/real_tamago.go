//go:build tamago

package kwatch

import (
	"sonde/arch/amd64"
	"sonde/arch/amd64/debugreg"
	"sonde/arch/amd64/trap"
	"sonde/kernel/cpu"
	"sonde/kernel/kthread"
	"sonde/kernel/notifier"
	"sonde/kernel/smp"
	"sonde/sysctl"
)

var this = machine{cpus: cpu.Num, load: loadAll, read: read, refuse: refuse, careful: func(any) bool { return true }}

// loadAll implements machine.load: handlers have interrupts off, so the interrupt of
// CallAll comes after them.
func loadAll(s *debugreg.Set) {
	keepWatch()
	if !trap.Watch(s) {
		panic("kwatch: a watchpoint that no processor can have") // check has refused it
	}
	smp.CallAll(trap.LoadWatch)
	trap.Unwatched()
}

// vecAbandon is the runtime's software interrupt (overlay, sonde_abandon.go).
const vecAbandon = amd64.VecAbandon

// Others has what this package needs from other kinds of probes, without importing them.
type Others struct {
	// HandlerFrame returns the address of the registers of the hit whose handler runs on
	// CPU id; 0: none.
	// Context: trap, on that CPU.
	HandlerFrame func(id int) uintptr
	// NoProbe returns why the function at addr cannot be probed, or "" if it can.
	NoProbe func(addr uintptr) string
	// Recheck is called when an execute watchpoint comes or goes: the jump of an optimized
	// probe executes a copy, so it must be removed.
	Recheck func(addr uintptr)
	// Careful reports whether a handler may change X0-X14, or IP or SP of the registers that it
	// gets, whatever it calls.
	Careful func(handler any) bool
	// Moved keeps the fact that the handler at code, of the watchpoint at addr, has changed IP or SP
	// of r, for a crash that may follow. These are the values before.
	// Context: trap, with X0-X14 saved.
	Moved func(addr, code uintptr, owner string, r *amd64.Regs, ip, sp uint64)
	// KeepWatch makes CPU 0 take the NMIs that find handlers which run too long;
	// HandlerLimit is that limit, in milliseconds.
	KeepWatch    func()
	HandlerLimit *sysctl.Int
}

// Init connects this package with the trap layer.
//
// Context: boot, goroutine, after kprobes.
func Init(o Others) {
	this.recheck = o.Recheck
	handlerFrame, noProbe, keepWatch, limit = o.HandlerFrame, o.NoProbe, o.KeepWatch, o.HandlerLimit
	handlerMoved = o.Moved
	this.careful = o.Careful
	trap.SetWatcher(onHit)
	emulated = cpu.Emulated()
	trap.SetDoubles(emulated)
	nextAbandon = trap.HandlerOf(vecAbandon)
	trap.SetHandler(vecAbandon, onAbandon)
	for v := range notifier.Die {
		if v != amd64.VEC_BP && v != amd64.VEC_DB && v != amd64.VEC_NMI {
			notifier.Die[v].Register(&notifier.Block{Name: "kwatch", Priority: 200, Call: onFault})
		}
	}
	notifier.Die[amd64.VEC_NMI].Register(&notifier.Block{Name: "kwatch", Priority: 200, Call: onNMI})
	notifier.Die[amd64.VEC_NMI].Register(&notifier.Block{Name: "kwatch's own", Priority: -2, Call: onOurNMI})
	kthread.Run("kwatch_disarm", func() {
		for dropper.Wait(-1) {
			mu.Lock()
			load(wanted())
			mu.Unlock()
		}
	})
}
