package kprobes

import (
	"slices"
	"sync/atomic"
	"unsafe"

	"sonde/kernel/cpu/percpu"
	"sonde/kprobes/detour"
	"sonde/kprobes/machine"
)

// A program that is small can be put into the detour of its place: packages fuse and bpf/jit. The place's jump then
// leads to that code, or to the general way, on which handlers are called. This file decides which of both, and counts.

// A form is what is at an armed point.
type form uint8

const (
	trapped form = iota // INT3
	general             // a jump to the detour's Entry
	fused               // a jump to its Fused
)

// form returns what is there.
func (pt *point) form() form {
	switch {
	case !pt.jumped:
		return trapped
	case pt.fused:
		return fused
	}
	return general
}

// wants returns which jump there should be. It is the one decision: a place is fused if it has one probe, which is
// enabled and whose handler can be compiled and may run that way, and a detour that was made for it.
func (pt *point) wants() form {
	k := pt.lone()
	if k == nil || pt.detour == nil || pt.detour.Fused == 0 || pt.detour.For != any(k) ||
		!detour.Fusing.Get() || detour.Plain.Get() || !k.Place.Link.Options.Fuse.Ready() {
		return general
	}
	return fused
}

// lone returns the only probe of pt, if its handler may be compiled for the place; nil: there is none.
func (pt *point) lone() *Kprobe {
	l := pt.probes()
	if len(l) != 1 || !l[0].calls() || l[0].tally() == nil {
		return nil
	}
	return l[0]
}

// unfit says why hits of pt call a handler that could be compiled, "" if none could. Called with mu held.
func (pt *point) unfit() string {
	l := pt.probes()
	if pt.fused || !slices.ContainsFunc(l, (*Kprobe).fusible) {
		return ""
	}
	switch d := pt.detour; {
	case len(l) > 1:
		return "other probes are there"
	case l[0].tally() == nil:
		return "no room for another counter"
	case detour.Plain.Get():
		return "debug.kprobes-plain is 1"
	case !detour.Fusing.Get():
		return "debug.kprobes-fused is 0"
	case !l[0].Place.Link.Options.Fuse.Ready():
		return "the program is metered or held"
	case d == nil || !pt.jumped:
		return "there is no jump"
	case d.For != any(l[0]):
		return "the detour was made for other probes"
	case d.Why != nil:
		return d.Why.Error()
	}
	return "the optimizer has not come to it"
}

// fusible reports whether k's handler can be compiled somewhere.
func (k *Kprobe) fusible() bool {
	return k.kind == kindKprobe && k.Place != nil && k.Place.Link.Options.Fuse != nil
}

// perStop is how many places get the general form at one stop of the machine.
const perStop = 256

// generalize has those of list call handlers that are not to be fused any more. When it returns, no CPU is in the code
// of theirs. Called with mu held.
func generalize(list []*point) {
	list = slices.DeleteFunc(slices.Clone(list), func(pt *point) bool { return !pt.fused || pt.wants() == fused })
	for some := range slices.Chunk(list, perStop) {
		swapUntilDone(some, general)
	}
}

// Refit says that it may have changed which of ks may have their handlers' code in their detours; nil: of all probes.
// When it returns, no CPU is in code that may not run any more.
//
// Context: goroutine, not a handler.
func Refit(ks []*Kprobe) {
	machine.This.Forbid("changes how probes are hit")
	mu.Lock()
	defer mu.Unlock()
	if ks == nil {
		generalize(allPoints())
	} else {
		generalize(pointsOf(ks))
	}
	kick()
}

// A tally counts hits that ran the handler's code: a word at each CPU's GS base, or their sum when there can be no more.
// It does not change, so that readers need no lock.
type tally struct {
	at   percpu.Offset // 0: nowhere any more
	past uint64
}

// tally returns k's, nil if there is none. A Kprobe may be copied, so that the pointer is none of package atomic's.
func (k *Kprobe) tally() *tally {
	return (*tally)(atomic.LoadPointer((*unsafe.Pointer)(unsafe.Pointer(&k.fused))))
}

func (k *Kprobe) setTally(t *tally) {
	atomic.StorePointer((*unsafe.Pointer)(unsafe.Pointer(&k.fused)), unsafe.Pointer(t))
}

// tallyBytes is what one takes of each CPU's memory.
const tallyBytes = 8

// openTally makes room for k's count, if its handler can be compiled. Called with mu held.
func (k *Kprobe) openTally() {
	k.setTally(nil)
	if !k.fusible() {
		return
	}
	if at, err := percpu.Take(tallyBytes); err == nil {
		k.setTally(&tally{at: at})
	}
}

// closeTally gives the room back. No CPU is in k's code. Called with mu held.
func (k *Kprobe) closeTally() {
	if t := k.tally(); t != nil && t.at != 0 {
		k.setTally(&tally{past: t.sum()})
		percpu.Give(t.at, tallyBytes)
	}
}

// sum returns the count.
func (t *tally) sum() (n uint64) {
	if t.at == 0 {
		return t.past
	}
	for cpu := range machine.This.CPUs {
		n += atomic.LoadUint64((*uint64)(percpu.At(t.at, cpu)))
	}
	return n
}

// tallied returns how many hits of k ran its code. If the room was given back meanwhile, what was read is not k's.
//
// Context: any.
func (k *Kprobe) tallied() uint64 {
	for {
		t := k.tally()
		if t == nil {
			return 0
		}
		if n := t.sum(); k.tally() == t {
			return n
		}
	}
}
