package kprobes

import (
	"slices"
	"sync/atomic"
	"unsafe"

	"sonde/arch/amd64/insn"
	"sonde/arch/amd64/insn/emulate"
	"sonde/arch/amd64/prologue"
	"sonde/kernel/module"
)

// A site is a probed address: the instruction there, its copy, and the probes
// on it. All but the list of probes is immutable.
type site struct {
	addr  uintptr
	in    insn.Inst
	orig  [insn.MaxLen]byte
	slot  uintptr // the copy, followed by a jump back; 0 if the instruction is emulated
	boost bool    // the copy may run without a step
	step  bool    // the copy may be stepped
	check prologue.Check
	// The stack check that the site is within, but not its first instruction, and
	// how far; 0: not in one.
	around prologue.Check
	within uint8
	op     emulate.Op                // if it is emulated
	to     uint64                    // target of a direct branch
	post   atomic.Bool               // some probe has a post-handler
	sse    atomic.Bool               // some handler may change X0-X14
	list   atomic.Pointer[[]*Kprobe] // in order of registration
	sole   atomic.Uintptr            // the *Kprobe in it, if its way through a hit is the short one
	call   atomic.Uintptr            // sole, if it is a kprobe
	enter  atomic.Uintptr            // sole, if it is a return probe without an entry handler
	how    atomic.Uint32             // a means: what is done about the instruction
	// resume is where the detour's copy begins, once there is a detour.
	resume atomic.Uintptr

	// guarded by mu:
	armed  bool    // INT3 is in place, or
	jumped bool    // a jump to the detour
	detour *Detour // nil if there is none
	turn   int     // times that how has changed
	seen   uint64  // the round of sitesOf it was last seen in
	gone   bool    // it leaves the table
}

// code returns the instruction's own bytes.
func (s *site) code() []byte { return s.orig[:s.in.Len] }

func (s *site) probes() []*Kprobe {
	if p := s.list.Load(); p != nil {
		return *p
	}
	return nil
}

// add and remove replace the list by a changed copy: hits read the old one.
// From now on k is the probe of the module that registers it.
func (s *site) add(k *Kprobe) {
	k.owner = module.Current()
	s.set(append(slices.Clone(s.probes()), k))
}

func (s *site) remove(k *Kprobe) {
	if l := s.probes(); len(l) == 1 && l[0] == k {
		s.set(nil)
		return
	}
	s.set(slices.DeleteFunc(slices.Clone(s.probes()), func(x *Kprobe) bool { return x == k }))
}

func (s *site) set(l []*Kprobe) {
	s.post.Store(slices.ContainsFunc(l, (*Kprobe).wantsPost))
	s.sse.Store(slices.ContainsFunc(l, func(k *Kprobe) bool { return k.sse }))
	if old := s.list.Swap(&l); old != nil {
		replaced = append(replaced, old)
	}
	if old := s.how.Swap(uint32(s.means())); old != s.how.Load() {
		s.turn++
	}
	s.setSole(l)
}

// replaced are lists that a hit may still go through: the collector does not wait
// for an interrupt that came to an idle CPU. Until nobody does: outside.
// guarded by mu
var replaced []*[]*Kprobe

// setSole opens or closes the short way through a hit.
func (s *site) setSole(l []*Kprobe) {
	var sole, call, enter uintptr
	if len(l) == 1 && l[0].short() {
		sole = uintptr(unsafe.Pointer(l[0])) // kept by list
		switch {
		case l[0].kind == kindKprobe:
			call = sole
		case asKretprobe(l[0]).EntryHandler == nil:
			enter = sole
		}
	}
	s.sole.Store(sole)
	s.call.Store(call)
	s.enter.Store(enter)
}

// short reports whether a hit need only call k's handler: it is enabled, and
// X0-X14 are safe from it.
func (k *Kprobe) short() bool {
	return !k.sse && !k.has(FlagDisabled|flagGone) && (k.kind == kindKretprobe || k.kind == kindKprobe && k.PreHandler != nil)
}

// A means is how the instruction gets executed after the pre-handlers.
type means uint8

const (
	meansOther  means = iota // see execute
	meansSlot                // the copy, which jumps back
	meansStep                // the copy, under the trace flag
	meansJump                // a direct jump, to s.to
	meansCheck               // the stack check of a small frame, known to pass
	meansDetour              // the copy in the detour
)

// means chooses the short way where there is one.
func (s *site) means() means {
	post := s.post.Load()
	switch {
	case s.detour != nil && !post && !s.crowded():
		return meansDetour
	case s.slot == 0:
		if s.in.Flow == insn.Jmp && !post {
			return meansJump
		}
	case s.check.Kind == prologue.Small && !post:
		return meansCheck
	case s.check.Kind != prologue.None || s.within > 0:
	case post:
		return meansStep
	case s.boost:
		return meansSlot
	}
	return meansOther
}

// wanted reports whether some probe is enabled: the site is to be armed.
func (s *site) wanted() bool {
	return slices.ContainsFunc(s.probes(), func(k *Kprobe) bool { return !k.has(FlagDisabled | flagGone) })
}
