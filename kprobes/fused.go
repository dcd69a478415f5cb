package kprobes

import (
	"slices"
	"sync/atomic"
	"unsafe"

	"sonde/arch/amd64/prologue"
	"sonde/kernel/cpu/percpu"
	"sonde/kernel/grace"
	"sonde/kernel/text"
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
	if k := pt.fusing(); k == nil || pt.detour == nil || pt.detour.Fused == 0 || pt.detour.For != any(k) {
		return general
	}
	return fused
}

// fusing returns lone's, if its code may run now.
func (pt *point) fusing() *Kprobe {
	k := pt.lone()
	if k == nil || !detour.Fusing.Get() || detour.Plain.Get() || !k.Place.Link.Options.Fuse.Ready() {
		return nil
	}
	return k
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
	if pt.fused || pt.stubbed() || !slices.ContainsFunc(l, (*Kprobe).fusible) {
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
	case !pt.jumped:
		return pt.stubless()
	case d == nil:
		return "there is no detour"
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
	list := allPoints()
	if ks != nil {
		list = pointsOf(ks)
	}
	unstub(list)
	generalize(list)
	kick()
}

// tally returns what counts the hits of k that ran its code, nil if there is no room. A Kprobe may be copied, so that the
// pointer is none of package atomic's.
func (k *Kprobe) tally() *percpu.Tally {
	return (*percpu.Tally)(atomic.LoadPointer((*unsafe.Pointer)(unsafe.Pointer(&k.fused))))
}

// openTally makes room for k's count, if its handler can be compiled. Called with mu held.
func (k *Kprobe) openTally() {
	var t *percpu.Tally
	if k.fusible() {
		t, _ = percpu.NewTally() // without room, its handler is called
	}
	atomic.StorePointer((*unsafe.Pointer)(unsafe.Pointer(&k.fused)), unsafe.Pointer(t))
}

// closeTally gives the room back. No CPU is in k's code. Called with mu held.
func (k *Kprobe) closeTally() {
	if t := k.tally(); t != nil {
		t.Close()
	}
}

// tallied returns how many hits of k ran its code.
//
// Context: any.
func (k *Kprobe) tallied() uint64 {
	t := k.tally()
	if t == nil {
		return 0
	}
	return t.Sum()
}

// Where there is no jump, an INT3 can lead to code that has the handler in it: a stub, of package fuse. The entry of #BP
// continues at point.trap.Code, which is either that or machine.Known; it is one word, so that it changes while there are
// hits. A stub runs with interrupts off, so that a CPU that has taken an interrupt since is in none.

// stubbed reports whether hits go to the stub. Called with mu held.
func (pt *point) stubbed() bool { return pt.trap.Code != machine.This.Known }

// stubs reports whether hits may, if the stub is for the probe that is there.
func (pt *point) stubs() bool {
	return pt.fusing() != nil && pt.stub != nil && pt.stub.Len > 0 && pt.stub.Leads == pt.lead.Load()
}

// settle has hits go where they may. Called with mu held.
func (pt *point) settle() {
	code := machine.This.Known
	if pt.stubs() {
		code = pt.stub.Head
	}
	atomic.StoreUintptr(&pt.trap.Code, code)
}

// unstub has those of list call handlers that are not to be fused any more. When it returns, no CPU is in a stub of
// theirs. Called with mu held.
func unstub(list []*point) {
	some := false
	for _, pt := range list {
		some = pt.leaveStub() || some
	}
	if some {
		grace.Change{Each: []func(){machine.This.Serialize}}.Complete()
	}
}

// leaveStub has hits call handlers if they are not to be fused any more, and reports whether they were: a CPU may still
// be in the stub. Called with mu held.
func (pt *point) leaveStub() bool {
	left := pt.stubbed() && !pt.stubs()
	if left {
		pt.settle()
	}
	return left
}

// stubless says why there is no stub, where there could be one. Called with mu held.
func (pt *point) stubless() string {
	switch {
	case pt.Check.Kind != prologue.None:
		return "there is no jump, and a breakpoint decides a stack check here"
	case pt.lead.Load() == 0:
		return "there is no jump, and the instruction is not executed as a copy"
	case pt.stub != nil && pt.stub.Why != nil:
		return pt.stub.Why.Error()
	}
	return "the optimizer has not come to it"
}

// dropStub gives its memory back. No hit finds it any more. Called with mu held.
func (pt *point) dropStub(since text.InUse) {
	if pt.stub != nil && pt.stub.Head != 0 {
		machine.This.Detours.Put(pt.stub.Head, since, pt.stub)
	}
	pt.stub = nil
}

// Unstubbed returns the places that are hit by a breakpoint and lack a stub, which they may have.
func Unstubbed() (list []Candidate) {
	mu.Lock()
	defer mu.Unlock()
	for pt := range points.All {
		k, to := pt.fusing(), pt.lead.Load()
		if k == nil || to == 0 || !pt.armed || pt.jumped || pt.Check.Kind != prologue.None {
			continue
		}
		if pt.stub == nil || pt.stub.For != any(k) || pt.stub.Leads != to {
			list = append(list, Candidate{Addr: pt.Addr, Lone: k, Count: int32(k.tally().At()), Leads: to})
		} else if !pt.stubbed() {
			pt.settle()
		}
	}
	return list
}

// BindStub gives c's point a stub, and reports whether that still exists.
func (c *Candidate) BindStub(s *detour.Stub) bool {
	mu.Lock()
	defer mu.Unlock()
	pt := points.Find(c.Addr)
	if pt == nil || pt.lone() != c.Lone || pt.stubbed() {
		return false
	}
	pt.dropStub(machine.This.Since())
	pt.stub = s
	pt.settle()
	return true
}
