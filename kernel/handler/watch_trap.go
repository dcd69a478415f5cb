//go:build tamago

package handler

// Trap context, except Watch.

import (
	"sync"
	"sync/atomic"
	"unsafe"

	"sonde/arch/amd64"
	"sonde/arch/amd64/trap"
	"sonde/kernel/cpu"
	"sonde/kernel/goruntime"
	"sonde/kernel/irq"
	"sonde/kernel/notifier"
	"sonde/kernel/printk"
	"sonde/kernel/smp"
	"sonde/sysctl"
)

// Limit is how long a handler may run, in milliseconds; 0 means for ever.
var Limit = sysctl.NewRange("debug.kprobes-handler-limit-ms", 2000, 0, 60_000,
	"milliseconds after which a probe handler is abandoned; 0: never")

const (
	tooLong = "it runs too long"

	maxGap     = 2 * irq.NMIPeriod // ns; the most that one check can add
	timerEvery = irq.NMIPeriod     // ns, without the NMI
)

// byNMI says that CPU 0's NMI does the checks.
var byNMI atomic.Bool

// Watch makes all CPUs look for handlers that run too long. It starts with the first probe and never
// stops: a few interrupts a second cost next to nothing.
//
// Context: goroutine.
func Watch() { start() }

var start = sync.OnceFunc(func() {
	err := irq.StartNMI()
	if byNMI.Store(err == nil); err == nil {
		return
	}
	printk.Warn("handlers: %s; those that never return, with interrupts off, on all CPUs at once are not found", err.Error())
	irq.OnTick(func(r *amd64.Regs, _ int64) { watch(cpu.ID(), r, true) })
	smp.TickEvery(timerEvery)
})

// A sighting is what the watch knows of a CPU.
type sighting struct {
	seen  atomic.Uint64 // the handlers it was in when another CPU looked
	asked atomic.Uint32 // 1: an NMI is on its way to it

	// This CPU's own:
	in  int    // the kind of the handler it was in at its last look, counted from 1
	seq uint64 // which one of that kind
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

// watch checks CPU id, which r interrupted, and with others set all CPUs.
func watch(id int, r *amd64.Regs, others bool) {
	watching(id, true)
	watched[id].measure(id, r)
	for i := range cpu.Num() {
		if others && i != id && watched[i].suspect(i) {
			watched[i].asked.Store(1)
			cpu.SendNMI(i)
		}
	}
	watching(id, false)
}

func watching(id int, on bool) {
	for _, k := range kinds[:count] {
		if k.Watching != nil {
			k.Watching(id, on)
		}
	}
}

// suspect reports whether CPU i is in the same handlers as at the last check.
func (w *sighting) suspect(i int) bool {
	sum := uint64(0)
	for _, k := range kinds[:count] {
		s := k.on(i)
		seq := atomic.LoadUint64(&s.Seq)
		if atomic.LoadUintptr(&s.Probe) != 0 && atomic.LoadUint64(&s.dying) != seq {
			sum += seq
		}
	}
	return w.seen.Swap(sum) == sum && sum != 0
}

// measure adds to the account of the innermost handler that r interrupted on CPU id. It ends the
// handler if that has run too long and can be ended now; otherwise the next check will.
func (w *sighting) measure(id int, r *amd64.Regs) {
	in, seq := running(id)
	now := cpu.Nanotime()
	gap := min(now-w.at, maxGap)
	w.at = now
	if in == 0 || in != w.in || seq != w.seq {
		w.in, w.seq, w.ran = in, seq, 0
		return
	}
	w.ran += gap
	k := kinds[in-1]
	if limit := Limit.Get() * 1e6; limit != 0 && w.ran > limit && k.on(id).canEnd(r) {
		k.Kill(tooLong, "", r)
	}
}

// running returns the innermost handler of a CPU, unless it is being abandoned: its kind, counted from
// 1, and which one of that kind it is; 0: none.
func running(id int) (in int, seq uint64) {
	frame := ^uintptr(0)
	for i, k := range kinds[:count] {
		if s := k.on(id); s.Probe != 0 && s.dying != s.Seq && s.Frame < frame {
			in, seq, frame = i+1, s.Seq, s.Frame
		}
	}
	return in, seq
}

// canEnd reports whether the handler can be ended from r. Whatever came on top of it must
// end first: an interrupt other than r, which may be in its first instructions, before it is noted and
// acknowledged; or the waking of a thread. Waking has interrupts off, so if r is an interrupt, the waking
// is another CPU's.
func (s *State) canEnd(r *amd64.Regs) bool {
	if trap.Interrupt() == uintptr(unsafe.Pointer(r)) {
		return true // interrupts do not nest: each runs with them off
	}
	return !s.interrupted() && !cpu.InService() && !goruntime.Locked()
}
