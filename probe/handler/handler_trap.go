//go:build tamago

package handler

// Trap context, except Register.

import (
	"sync/atomic"
	"unsafe"

	"sonde/arch/amd64"
	"sonde/arch/amd64/trap"
	"sonde/kernel/die"
	"sonde/kernel/goruntime"
	"sonde/kernel/irq"
	"sonde/kernel/kthread"
	"sonde/kernel/notifier"
	"sonde/kernel/printk"
	"sonde/kernel/screen"
)

// interrupted reports whether an interrupt is being handled on top of the handler.
func (s *State) interrupted() bool { return Interrupted(s.Frame) }

// Interrupted reports whether an interrupt is being handled on top of a hit with this frame.
//
// Context: trap.
func Interrupted(frame uintptr) bool {
	at := trap.Interrupt()
	return at != 0 && at < frame
}

// A Kind is a kind of probe whose handlers are called in trap context.
type Kind struct {
	// Blame disables a probe for good, and returns what the report says of its handler. first: the probe
	// was not disabled for good before.
	// Context: trap.
	Blame func(probe uintptr) (h die.Handler, first bool)
	// Onward continues the hit whose handler was abandoned, and counts it; the registers are the hit's. It
	// returns from the hit's trap.
	// Context: trap.
	Onward func(r *amd64.Regs)
	// Divert, if not nil, is called in place of trap.Divert: it makes r, a trap inside the hit of this CPU,
	// return to where the hit continues, and Onward is not used.
	// Context: trap.
	Divert func(r *amd64.Regs)
	// Disarm, if not nil, removes what no probe wants any more.
	// Context: goroutine.
	Disarm func()
	// Faults: the kind itself looks at exceptions in its handlers, and calls Kill.
	Faults bool
	// Watching, if not nil, is told when the watch begins and ends on a CPU: a hit meanwhile must not call
	// handlers, because these could not be ended.
	// Context: trap.
	Watching func(id int, on bool)
	// Hit, if not nil, returns the frame of the hit that is in progress on a CPU, in a handler or around it; 0: none does.
	// Context: trap.
	Hit func(id int) (frame uintptr)

	first  *State // of CPU 0
	stride uintptr
}

// kinds are all kinds, in no particular order. Written at boot.
var (
	kinds [4]*Kind
	count int
)

// Register adds a kind, whose state of CPU n is n*stride bytes after first.
//
// Context: boot, goroutine.
func (k *Kind) Register(first *State, stride uintptr) {
	k.first, k.stride = first, stride
	kinds[count] = k
	count++
}

// on returns the kind's state of a CPU. Safe because: see Register.
func (k *Kind) on(id int) *State {
	return (*State)(unsafe.Add(unsafe.Pointer(k.first), uintptr(id)*k.stride))
}

// disarmer wakes the thread that disarms what abandoned handlers were of.
var disarmer irq.Event

// Init connects this package with traps: the runtime's software interrupt (overlay, sonde_abandon.go),
// exceptions, and NMIs that nothing else takes.
//
// Context: boot, goroutine.
func Init() {
	trap.SetHandler(amd64.VecAbandon, onAbandon)
	notifier.OnFaults(&notifier.Block{Name: "handlers", Priority: 200, Call: onFault})
	notifier.Die[amd64.VEC_NMI].Register(&notifier.Block{Name: "handlers", Priority: -100, Call: onNMI})
	kthread.Run("disarm", func() {
		for disarmer.Wait(-1) {
			for _, k := range kinds[:count] {
				if k.Disarm != nil {
					k.Disarm()
				}
			}
		}
	})
}

// innermost returns the kind whose handler runs on a CPU, nil if none does or an interrupt runs on top
// of it. Of nested handlers the innermost has the lowest frame.
//
// Context: trap, on that CPU.
func innermost(id int) (in *Kind) {
	for _, k := range kinds[:count] {
		if s := k.on(id); s.Probe != 0 && (in == nil || s.Frame < in.on(id).Frame) {
			in = k
		}
	}
	if in != nil && in.on(id).interrupted() {
		return nil
	}
	return in
}

// onAbandon is called by the runtime when the code on this trap stack does something forbidden: it
// allocates, blocks, panics, or runs out of stack. AX and BX are the reason, CX and DX the text of a
// panic. If no handler is running, it returns, and the runtime stops the machine.
func onAbandon(r *amd64.Regs) {
	if k := innermost(trap.ID(r)); k != nil {
		k.Kill(passed(r.AX, r.BX), passed(r.CX, r.DX), r)
	}
}

// passed returns a string that the runtime passes in registers, cut to the length of a log
// line.
func passed(p, n uint64) string {
	return unsafe.String(*(**byte)(unsafe.Pointer(&p)), min(n, 128)) // Safe because: it stays as it is until the handler has gone
}

// onFault takes exceptions in handlers.
func onFault(r *amd64.Regs, addr uint64) notifier.Action {
	k := innermost(trap.ID(r))
	if k == nil || k.Faults {
		return notifier.Next
	}
	k.Kill(die.FaultName(r, addr), "", r)
	return notifier.Stop
}

// disable disables the probe of k's handler that r interrupted, for good, and logs why, with text. The handler is
// abandoned, or finishes.
func (k *Kind) disable(why, text string, r *amd64.Regs, finishes bool) {
	h, first := k.Blame(k.on(trap.ID(r)).Probe)
	if h.Finishes = finishes; first {
		die.Mistaken(h, why, text, r)
	}
}

// Kill abandons k's handler that r interrupted: it logs why, with text, and makes r continue with the
// hit.
//
// Context: trap.
func (k *Kind) Kill(why, text string, r *amd64.Regs) {
	id := trap.ID(r)
	s := k.on(id)
	atomic.StoreUint64(&s.dying, s.Seq)
	keepReason(id, why, text)
	screen.Main.Rescue(uintptr(r.SP), s.Frame)
	printk.Rescue(id, uintptr(r.SP), s.Frame)
	trap.Self().Rescue(uintptr(r.SP), s.Frame)
	k.disable(why, text, r, false)
	goruntime.TrapReset(id)
	if frame := s.Frame; k.Divert != nil {
		k.Divert(r)
	} else {
		trap.Divert(r, *(**amd64.Regs)(unsafe.Pointer(&frame)), &k.Onward) // Safe because: it is on this CPU's trap stack
	}
	disarmer.Wake()
}
