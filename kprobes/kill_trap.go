//go:build tamago

package kprobes

// Trap context. Handlers that break the rules: found, abandoned, disarmed.

import (
	"sync/atomic"
	"unsafe"

	"sonde/arch/amd64"
	"sonde/arch/amd64/trap"
	"sonde/kernel/die"
	"sonde/kernel/goruntime"
	"sonde/kernel/irq"
	"sonde/kernel/printk"
)

// vecAbandon is the runtime's software interrupt (overlay, sonde_abandon.go).
const vecAbandon = amd64.VecAbandon

// disarmer wakes the thread that disarms sites nobody wants any more.
var disarmer irq.Event

// onAbandon is the runtime saying that the code on this trap stack does what it
// must not: allocate, block, panic, use up the stack. With no handler to
// abandon it returns, and the runtime ends the machine; nor is a handler to blame for
// an interrupt that came on top of it.
func onAbandon(r *amd64.Regs) {
	id := trap.ID(r)
	if st := &states[id].state; st.probe == 0 || st.interrupted() {
		return
	}
	n := min(r.BX, 64)
	p := r.AX
	why := unsafe.String(*(**byte)(unsafe.Pointer(&p)), n) // Safe because: the runtime passes a string constant
	kill(id, why, r)
}

// kill abandons the handler that r interrupted on CPU id, disables its probe
// for good, and says so.
func kill(id int, why string, r *amd64.Regs) {
	st := &states[id].state
	k := asProbe(st.probe)
	atomic.StoreUint64(&st.dying, st.seq)
	printk.Rescue(id, uintptr(r.SP), st.frame)
	k.takeShort()
	if k.Flags.Set(flagGone) {
		printk.Err("kprobes: handler of %s at %s abandoned: %s; the probe is disabled", k.kind.String(), symbolOf(k), why)
		printk.Err("CPU: %d", id)
		die.Backtrace(printk.LevelErr, r, trap.G(r))
	}
	goruntime.TrapReset(id)
	st.abandon(r)
	disarmer.Wake()
}

// takeShort takes the short way from hits of k: they must look at its flags.
func (k *Kprobe) takeShort() {
	if s := sites.Find(k.Addr); s != nil {
		s.call.Store(0)
		s.note.Store(0)
		s.second.Store(0)
	}
}

func symbolOf(k *Kprobe) string { return die.Symbol(uint64(k.Addr)) }
