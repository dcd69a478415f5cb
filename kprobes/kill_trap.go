//go:build tamago

package kprobes

// Trap context. Handlers that break the rules are found, abandoned and disarmed. Those that
// run too long are found whatever the other CPUs do.
//
// CPU 0 takes an NMI 18 times a second, which nothing can delay (irq.StartNMI). It checks
// itself, and sends an NMI to each CPU that is still in the handler in which the last check
// saw it. So each CPU is measured by itself, with NMIs that it takes in the handler: a CPU
// that the host does not run is not blamed. Each NMI adds the time since the last one to
// the handler's account, but at most maxGap: after a pause of the whole machine the clock
// has jumped, and that counts as one gap.
//
// Without that NMI (command line nmi_watchdog=0, or no such timer) every CPU's timer
// interrupt does the same. A handler that was called by a jump takes it and can be ended
// there. A handler that was called by a trap has interrupts off, so another CPU must notice
// it: if all CPUs are in such handlers, none is found.
//
// Rejected: RDTSC before and after each handler (a tenth of a hit by a jump, and it
// measures pauses of the host as well); an NMI to every CPU each time (it wakes idle CPUs).
//
// Source: the NMI by the I/O APIC is that of Linux 2.6, Documentation/nmi_watchdog.txt.

import (
	"sync"
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
	"sonde/kernel/screen"
	"sonde/kernel/smp"
	"sonde/sysctl"
)

// vecAbandon is the runtime's software interrupt (overlay, sonde_abandon.go).
const vecAbandon = amd64.VecAbandon

// disarmer wakes the thread that disarms sites which no probe wants any more.
var disarmer irq.Event

// onAbandon is called by the runtime when the code on this trap stack does something
// forbidden: it allocates, blocks, panics, or runs out of stack. If no handler is running,
// or an interrupt on top of the handler is the cause, it returns, and the runtime stops the
// machine.
func onAbandon(r *amd64.Regs) {
	id := trap.ID(r)
	if st := &states[id].state; st.probe == 0 || st.interrupted() {
		return
	}
	kill(id, passed(r.AX, r.BX), passed(r.CX, r.DX), r)
}

// passed returns a string that the runtime passes in registers, cut to the length of a log
// line.
func passed(p, n uint64) string {
	return unsafe.String(*(**byte)(unsafe.Pointer(&p)), min(n, 128)) // Safe because: it stays as it is until the handler has gone
}

// kill abandons the handler that r interrupted on CPU id, disables its probe for good, and
// logs why, with text.
func kill(id int, why, text string, r *amd64.Regs) {
	st := &states[id].state
	k := asProbe(st.probe)
	atomic.StoreUint64(&st.dying, st.seq)
	screen.Main.Rescue(uintptr(r.SP), st.frame)
	printk.Rescue(id, uintptr(r.SP), st.frame)
	if k.disableForGood() {
		die.Mistaken(die.Handler{Owner: "kprobes", Kind: k.kind.String(), At: k.Addr, Noun: "probe"}, why, text, r)
	}
	goruntime.TrapReset(id)
	st.abandon(r)
	disarmer.Wake()
}

// HandlerLimit is how long a handler may run, in milliseconds; 0 means for ever.
var HandlerLimit = sysctl.NewRange("debug.kprobes-handler-limit-ms", 2000, 0, 60_000,
	"milliseconds after which a probe handler is abandoned; 0: never")

const (
	tooLong = "it runs too long"

	maxGap     = 2 * irq.NMIPeriod // ns; the most that one check can add
	timerEvery = irq.NMIPeriod     // ns, without the NMI
)

// byNMI says that CPU 0's NMI does the checks.
var byNMI atomic.Bool

// keepWatch starts with the first probe and never stops: a few interrupts a second cost
// next to nothing.
//
// Context: goroutine.
var keepWatch = sync.OnceFunc(func() {
	err := irq.StartNMI()
	if byNMI.Store(err == nil); err == nil {
		return
	}
	printk.Warn("kprobes: %s; handlers that never return, with interrupts off, on all CPUs at once are not found", err.Error())
	irq.OnTick(func(r *amd64.Regs, _ int64) { watch(cpu.ID(), r, true) })
	smp.CallAll(func() { goruntime.TickEvery(timerEvery) })
})

// A sighting is what the watch knows of a CPU.
type sighting struct {
	seen  atomic.Uint64 // the handler it was in when another CPU looked
	asked atomic.Uint32 // 1: an NMI is on its way to it

	// This CPU's own:
	seq uint64 // the handler it was in at its last look
	at  int64  // when that was
	ran int64  // ns that handler has been seen running
}

var watched [trap.MaxCPUs]sighting

// onNMI takes the NMIs that the watch has sent, and those that are its clock.
func onNMI(r *amd64.Regs, _ uint64) notifier.Action {
	id := trap.ID(r)
	clock := id == 0 && byNMI.Load()
	if asked := watched[id].asked.Swap(0) != 0; !asked && !clock {
		return notifier.Next
	}
	watch(id, r, clock)
	return notifier.Stop
}

// watch checks CPU id, which r interrupted, and with others set all CPUs. A probe that it
// hits counts as missed, because a handler called from here could not be ended.
func watch(id int, r *amd64.Regs, others bool) {
	st := &states[id].state
	mine := st.phase == idle
	if mine {
		st.phase = watching
	}
	watched[id].measure(id, r)
	for i := range cpu.Num() {
		if others && i != id && watched[i].suspect(i) {
			watched[i].asked.Store(1)
			cpu.SendNMI(i)
		}
	}
	if mine {
		st.phase = idle
	}
}

// suspect reports whether CPU i is in the same handler as at the last check.
func (w *sighting) suspect(i int) bool {
	st := &states[i].state
	seq := atomic.LoadUint64(&st.seq)
	if atomic.LoadUintptr(&st.probe) == 0 || atomic.LoadUint64(&st.dying) == seq {
		return false
	}
	return w.seen.Swap(seq) == seq
}

// measure adds to the account of the handler that r interrupted on CPU id. It ends the
// handler if that has run too long and can be ended now; otherwise the next check will.
func (w *sighting) measure(id int, r *amd64.Regs) {
	st := &states[id].state
	now := cpu.Nanotime()
	gap := min(now-w.at, maxGap)
	w.at = now
	if st.probe == 0 || st.dying == st.seq || st.seq != w.seq {
		w.seq, w.ran = st.seq, 0
		return
	}
	w.ran += gap
	if limit := HandlerLimit.Get() * 1e6; limit != 0 && w.ran > limit && st.canEnd(r) {
		kill(id, tooLong, "", r)
	}
}

// canEnd reports whether the handler can be ended from r. Whatever came on top of it must
// end first: an interrupt other than r, or the waking of a thread. Waking has interrupts
// off, so if r is an interrupt, the waking is another CPU's.
func (st *state) canEnd(r *amd64.Regs) bool {
	if trap.Interrupt() == uintptr(unsafe.Pointer(r)) {
		return true // interrupts do not nest: each runs with them off
	}
	return !st.interrupted() && !goruntime.Locked()
}
