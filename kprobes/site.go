package kprobes

import (
	"slices"
	"sync/atomic"

	"sonde/arch/amd64/insn"
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
	check prologue
	cmp   bool                      // it is the comparison of a function's stack check
	mem   insn.Mem                  // of an indirect branch through memory
	post  atomic.Bool               // some probe has a post-handler
	sse   atomic.Bool               // some handler may change X0-X14
	list  atomic.Pointer[[]*Kprobe] // in order of registration
	armed bool                      // guarded by mu: INT3 is in place
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
func (s *site) add(k *Kprobe) { s.set(append(slices.Clone(s.probes()), k)) }

func (s *site) remove(k *Kprobe) {
	s.set(slices.DeleteFunc(slices.Clone(s.probes()), func(x *Kprobe) bool { return x == k }))
}

func (s *site) set(l []*Kprobe) {
	s.post.Store(slices.ContainsFunc(l, (*Kprobe).wantsPost))
	s.sse.Store(slices.ContainsFunc(l, func(k *Kprobe) bool { return k.sse }))
	s.list.Store(&l)
}

// wanted reports whether some probe is enabled: the site is to be armed.
func (s *site) wanted() bool {
	return slices.ContainsFunc(s.probes(), func(k *Kprobe) bool { return !k.has(FlagDisabled | flagGone) })
}
