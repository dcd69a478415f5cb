//go:build tamago

package handler

// Trap context, except Watch.

import (
	"sync/atomic"
	"unsafe"

	"sonde/arch/amd64"
	"sonde/arch/amd64/trap"
	"sonde/kernel/cpu"
	"sonde/kernel/goruntime"
	"sonde/kernel/irq"
	"sonde/kernel/notifier"
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

// A sighting is what the watch knows of a CPU.
type sighting struct {
	seen  [len(kinds)]atomic.Uint64 // by kind, the handler it was in when another CPU looked
	asked atomic.Uint32             // 1: an NMI is on its way to it

	// This CPU's own:
	at  int64               // when its last look was
	ran [len(kinds)]account // by kind
}

// An account is of the handler of one kind that a CPU was in at its last look, others on top of it or not.
type account struct {
	seq uint64 // which one of that kind
	ns  int64  // for which it has been seen running
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

// suspect reports whether CPU i is in a handler in which it was at the last check.
func (w *sighting) suspect(i int) (same bool) {
	for n, k := range kinds[:count] {
		if seq := k.on(i).current(); w.seen[n].Swap(seq) == seq && seq != 0 {
			same = true
		}
	}
	return same
}

// current returns which handler runs, 0 if none does or it is being abandoned.
func (s *State) current() uint64 {
	seq := atomic.LoadUint64(&s.Seq)
	if atomic.LoadUintptr(&s.Probe) == 0 || atomic.LoadUint64(&s.dying) == seq {
		return 0
	}
	return seq
}

// measure adds to the accounts of the handlers that r interrupted on CPU id. It ends the
// innermost if that has run too long and can be ended now; otherwise the next check will.
func (w *sighting) measure(id int, r *amd64.Regs) {
	now := cpu.Nanotime()
	gap := min(now-w.at, maxGap)
	w.at = now
	in, frame := -1, ^uintptr(0)
	for n, k := range kinds[:count] {
		s, a := k.on(id), &w.ran[n]
		seq := s.current()
		if seq == 0 || seq != a.seq {
			a.seq, a.ns = seq, 0
		} else {
			a.ns += gap
		}
		if seq != 0 && s.Frame < frame {
			in, frame = n, s.Frame
		}
	}
	if limit := Limit.Get() * 1e6; in < 0 || limit == 0 || w.ran[in].ns <= limit {
		return
	}
	switch s := kinds[in].on(id); {
	case !s.canEnd(id, r):
	case s.runsProgram(r):
		kinds[in].disable(tooLong, "", r, true)
		disarmer.Wake()
	default:
		w.ran = [len(kinds)]account{} // the others have waited for this one
		kinds[in].Kill(tooLong, "", r)
	}
}

// runsProgram reports whether an eBPF program runs in the handler, and is not to be ended where r interrupted it.
func (s *State) runsProgram(r *amd64.Regs) bool { return trap.Self().Runs(uintptr(r.SP), s.Frame) }

// canEnd reports whether the handler, which is the innermost on CPU id, can be ended from r. Whatever came on top of it
// must end first: a hit that is not in its own handler, and has to be counted; an interrupt other than r, which may be in
// its first instructions, before it is noted and acknowledged; or the waking of a thread. Waking has interrupts off, so
// if r is an interrupt, the waking is another CPU's.
func (s *State) canEnd(id int, r *amd64.Regs) bool {
	for _, k := range kinds[:count] {
		if k.Hit == nil {
			continue
		}
		if at := k.Hit(id); at != 0 && at < s.Frame {
			return false
		}
	}
	if trap.Interrupt() == uintptr(unsafe.Pointer(r)) {
		return true // interrupts do not nest: each runs with them off
	}
	return !s.interrupted() && !cpu.InService() && !goruntime.Locked()
}
