package uprobes

import (
	"unsafe"

	"sonde/uprobes/place"
)

// Set once, by InTrap; nil: all hits lead to the goroutine.
var (
	careful   func(handler any) bool
	keepWatch = func() {}
)

// publish tells hits of pt whether they can be handled in trap context: nothing that they would
// call may block, and nothing that they have to do needs the goroutine. mu held.
//
// Hits read the list alone, so they never see a member that may block.
func (pt *point) publish() {
	all := pt.members.All()
	trap := len(all) > 0 && careful != nil && pt.inTrap()
	n, entries, words, wants, more := 0, uint32(0), uint32(0), uint32(0), uint32(0)
	for _, m := range all {
		if trap = trap && m.trapSafe; m.wants == 0 || m.flags.Has(disabled) {
			continue
		}
		if n, wants = n+1, wants|uint32(m.wants); m.begins() {
			entries, words = entries+1, max(words, uint32(m.words))
		}
		if m.wants&wantsMore != 0 {
			more = moreEntries
		}
	}
	if n != len(all) {
		wants = 0
	}
	pt.alone.Store(wants)
	if !trap {
		pt.trap.Store(nil)
		return
	}
	pt.words.Store(max(words, pt.words.Load()))
	pt.entries.Store(max(entries|more, pt.entries.Load()))
	pt.trap.Store(pt.members.First())
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
