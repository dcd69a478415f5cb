//go:build tamago

package kprobes

// Trap context. Handlers that break the rules: found, abandoned, disarmed.

import (
	"sync/atomic"
	"unsafe"

	"sonde/arch/amd64"
	"sonde/arch/amd64/trap"
	"sonde/kernel/cpu"
	"sonde/kernel/die"
	"sonde/kernel/goruntime"
	"sonde/kernel/irq"
	"sonde/kernel/notifier"
	"sonde/kernel/printk"
	"sonde/sysctl"
)

// HandlerLimit is how long a handler may run, in milliseconds; 0 is for ever.
var HandlerLimit = sysctl.NewRange("debug.kprobes-handler-limit-ms", 2000, 0, 60_000,
	"milliseconds after which a probe handler is abandoned; 0: never")

// vecAbandon is the runtime's software interrupt (overlay, sonde_abandon.go).
const vecAbandon = amd64.VecAbandon

const tooLong = "it runs too long"

// disarmer wakes the thread that disarms sites nobody wants any more.
var disarmer irq.Event

// onAbandon is the runtime saying that the code on this trap stack does what it
// must not: allocate, block, panic, use up the stack. With no handler to
// abandon it returns, and the runtime ends the machine.
func onAbandon(r *amd64.Regs) {
	id := trap.ID(r)
	if states[id].probe == 0 {
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

// watch is called by every CPU's timer interrupt r, late nanoseconds after it was
// due. It looks for handlers that have run too long: other CPUs' are ended by
// NMI; this CPU's own has either ended, or lets interrupts in and is ended here.
func watch(r *amd64.Regs, late int64) {
	limit := HandlerLimit.Get() * 1e6
	if limit == 0 {
		return
	}
	self := cpu.ID()
	w, st := &watched[self], &states[self].state
	if late > limit && !w.explained && st.seq != w.ticked {
		blame(asProbe(st.last), late)
	}
	w.explained, w.ticked = false, st.seq
	now := cpu.Nanotime()
	for i := 0; i < cpu.Num(); i++ {
		if watched[i].look(i, now, limit) {
			if i != self {
				cpu.SendNMI(i)
				continue
			}
			atomic.StoreUint64(&st.killed, 0)
			kill(i, tooLong, r)
		}
	}
}

// watched is what the watch last saw of each CPU.
var watched [trap.MaxCPUs]sighting

type sighting struct {
	busy  atomic.Uint32 // some CPU is looking
	seq   uint64        // handler seen running
	since int64
	// explained: this CPU's timer is late because of a handler that was ended.
	explained bool
	ticked    uint64 // this CPU's handlers begun by its last timer interrupt
}

// look reports whether CPU i's handler is the one seen limit nanoseconds ago; one
// caller is told.
func (w *sighting) look(i int, now, limit int64) (end bool) {
	st := &states[i].state
	if !w.busy.CompareAndSwap(0, 1) {
		return false
	}
	seq := atomic.LoadUint64(&st.seq)
	running := atomic.LoadUintptr(&st.probe) != 0 && atomic.LoadUint64(&st.dying) != seq
	switch {
	case !running || seq != w.seq:
		w.seq, w.since = seq, now
	case now-w.since > limit && atomic.LoadUint64(&st.killed) != seq:
		atomic.StoreUint64(&st.killed, seq)
		end = true
	}
	w.busy.Store(0)
	return end
}

// onNMI ends the handler that the watch on another CPU has found.
func onNMI(r *amd64.Regs, _ uint64) notifier.Action {
	id := trap.ID(r)
	st := &states[id].state
	if st.killed == 0 {
		return notifier.Next
	}
	if st.killed == st.seq && st.probe != 0 && st.dying != st.seq && !st.interrupted(r) {
		kill(id, tooLong, r)
		watched[id].explained = true
	}
	st.killed = 0
	return notifier.Stop
}

// interrupted reports whether r came on top of an interrupt that came on top of
// the handler: then that must end first, and the next watch tries again.
func (st *state) interrupted(r *amd64.Regs) bool {
	f := asRegs(st.frame)
	soft := f.Vector == amd64.VecDetour || f.Vector == amd64.VecReturn
	return soft && f.Flags&amd64.RFLAGS_IF != 0 && r.Flags&amd64.RFLAGS_IF == 0
}

// blame disables a probe whose handler ran for ns nanoseconds with nobody to
// stop it.
func blame(k *Kprobe, ns int64) {
	if k == nil || !k.Flags.Set(flagGone) {
		return
	}
	k.takeShort()
	printk.Err("kprobes: handler of %s at %s ran for about %d ms; the probe is disabled", k.kind.String(), symbolOf(k), ns/1e6)
	disarmer.Wake()
}
