package uprobes

import (
	"unsafe"

	"sonde/arch/amd64/goabi"
	"sonde/uprobes/place"
)

// Set once, by InTrap; nil: all hits lead to the goroutine.
var (
	careful   func(handler any) bool
	keepWatch = func() {}
)

// moreEntries is more than all members of a point.
const moreEntries = 1 << 30

// publish lets hits of pt be handled in trap context if that can be done: nothing that they would
// call may block, and nothing that they have to do needs the goroutine. mu held.
//
// Hits read the list alone, so they never see a member that may block.
func (pt *point) publish() {
	all := pt.members.All()
	entries, wants, more := uint32(0), uint32(0), uint32(0)
	for _, m := range all {
		if !m.trapSafe || careful == nil || !pt.inTrap() {
			pt.trap.Store(nil)
			return
		}
		if m.begins() && !m.flags.Has(disabled) {
			entries, wants = entries+1, wants|uint32(m.wants)
			pt.words.Store(max(uint32(m.words), pt.words.Load()))
			if m.wants&wantsMore != 0 {
				more = moreEntries
			}
		}
	}
	if int(entries) != len(all) {
		wants = 0
	}
	pt.alone.Store(wants)
	pt.entries.Store(max(entries|more, pt.entries.Load()))
	if len(all) == 0 {
		pt.trap.Store(nil)
		return
	}
	pt.trap.Store(pt.members.First())
}

// keptWords is the most data of a call that its thread keeps for the next one, so that none need be
// allocated in trap context.
const keptWords = 32

// trapSafe reports whether hits of the probe may be handled in trap context.
func (o order) trapSafe() bool { return o.u.TrapSafe && (o.rp == nil || o.rp.DataWords <= keptWords) }

// careful reports whether X0-X14 must be saved for a handler of the probe in trap context.
func (o order) careful() bool {
	if !o.trapSafe() || careful == nil {
		return false
	}
	entry := o.entryHandler()
	return careful(o.handler()) || goabi.CodeOf(entry) != 0 && careful(entry)
}

// code is where the code of its handlers begins, for blame.
func (o order) code() [2]uintptr {
	return [2]uintptr{goabi.CodeOf(o.handler()), goabi.CodeOf(o.entryHandler())}
}

// handler returns the user's function that hits call, or that returns do.
func (o order) handler() any {
	switch {
	case o.u.Place != nil:
		return o.u.Place.Link.Handler
	case o.rp != nil:
		return o.rp.Handler
	}
	return o.u.Handler
}

// entryHandler returns the one that calls of the function call, a nil func if there is none.
func (o order) entryHandler() any {
	switch {
	case o.rp == nil:
		return nil
	case o.u.Place != nil:
		return o.u.Place.Link.Options.Entry
	}
	return o.rp.EntryHandler
}

// inTrap reports whether the instruction can be got done in trap context.
func (pt *point) inTrap() bool {
	switch pt.plan.Way {
	case place.Nothing, place.Boost, place.Step:
		return true
	case place.Emulate:
		return pt.plan.Simple()
	}
	return false
}

// tie lets hits of th be handled in trap context from now on, unless another engine is told of them
// before. They find th by its CPU; forget ends that.
func (th *thread) tie() {
	tramp := th.text.trampoline.Load()
	if th.tied == tramp+1 || !th.t.Process().First(engine) {
		return
	}
	th.tied = tramp + 1
	th.calls.reserve()
	returns := uint64(0)
	if tramp != 0 {
		returns = tramp + uint64(len(place.Trampoline))
	}
	th.t.CPU().Probe(uintptr(unsafe.Pointer(th)), returns)
}
