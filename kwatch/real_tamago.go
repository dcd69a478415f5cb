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

var this = machine{cpus: cpu.Num, load: loadAll, read: read, refuse: refuse, writesSSE: func(Handler) bool { return true }}

// loadAll is machine.load: the interrupt of CallAll comes after a handler, which has
// interrupts off.
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

// Others is what this package is told of other kinds of probes, without knowing them.
type Others struct {
	// HandlerFrame returns where the registers are of the hit whose handler runs on CPU
	// id, 0 for none. Context: trap, on that CPU.
	HandlerFrame func(id int) uintptr
	// NoProbe says why the function at addr cannot be probed, "" if it can.
	NoProbe func(addr uintptr) string
	// Recheck is told where watchpoints of what is executed come and go: a jump of an
	// optimized probe executes a copy, so it makes room.
	Recheck func(addr uintptr)
	// WritesSSE reports whether a func may change X0-X14, whatever it calls.
	WritesSSE func(f any) bool
	// KeepWatch makes CPU 0 take NMIs, at which handlers that run too long are noticed, and
	// HandlerLimit is how long that is, in milliseconds.
	KeepWatch    func()
	HandlerLimit *sysctl.Int
}

// Init takes this package's places in the way of traps.
//
// Context: boot, goroutine, after kprobes.
func Init(o Others) {
	this.recheck = o.Recheck
	handlerFrame, noProbe, keepWatch, limit = o.HandlerFrame, o.NoProbe, o.KeepWatch, o.HandlerLimit
	this.writesSSE = func(h Handler) bool { return h != nil && o.WritesSSE(h) }
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
