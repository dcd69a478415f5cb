package kprobes

import (
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"unsafe"

	"sonde/arch/amd64/insn"
	"sonde/kallsyms"
	"sonde/kernel/module"
	"sonde/kernel/probe"
	"sonde/kernel/text"
	"sonde/kprobes/detour"
	"sonde/kprobes/machine"
	"sonde/kprobes/place"
)

// sites are the probed places by address. guarded by mu; hits read it without.
var sites probe.Table[site]

// mu guards everything that is not read by hits: see doc.go.
var mu sync.Mutex

// A site is a probed address: the instruction there, its copy, and the probes
// on it.
type site struct {
	place.Place // never changed

	// Written with mu held, read by hits:
	list   probe.List[Kprobe] // in order of registration
	post   atomic.Bool        // some probe has a post-handler
	how    atomic.Uint32      // a place.How: what a hit does about the instruction
	lead   atomic.Uintptr     // what leads says of how
	call   atomic.Uintptr     // the *Kprobe there, if it is the only one and plain
	note   atomic.Uintptr     // the same for a return probe without an entry handler
	second atomic.Uintptr     // such a return probe, if call is not the only one but in front of it
	resume atomic.Uintptr     // where the detour's copy begins, once there is a detour

	// guarded by mu:
	armed  bool           // INT3 is in place, or
	jumped bool           // a jump to the detour
	detour *detour.Detour // nil if there is none
	turn   int            // times that how has changed
	seen   uint64         // the round of sitesOf it was last seen in
}

// decoder finds instructions. guarded by mu
var decoder = place.Decoder{Code: original}

// newSite returns what a probe at addr, in function fn, would be. Nothing is
// taken or changed: see (*site).house.
//
// Errors: EINVAL fn may not be probed; EILSEQ no instruction begins at addr, or
// it cannot be executed elsewhere.
func newSite(addr uintptr, fn kallsyms.Symbol) (*site, error) {
	if why := machine.This.Blacklisted(fn); why != "" {
		return nil, probe.Refuse(syscall.EINVAL, "%s may not be probed: %s", fn.Name, why)
	}
	s := new(site)
	if err := s.Read(&decoder, fn, addr); err != nil {
		return nil, err
	}
	return s, nil
}

// house gives the instruction a slot with its copy, unless it is emulated.
//
// Errors: ENOMEM; EILSEQ the instruction's operand is not within reach.
func (s *site) house() error {
	if !s.NeedsSlot() {
		return nil
	}
	slots := machine.This.Slots
	slot, ok := slots.Take(s.Addr)
	if !ok {
		return probe.Refuse(syscall.ENOMEM, "all %d slots are in use", slots.Used())
	}
	code, ok := s.CopyFor(slot)
	if !ok {
		slots.Put(slot, machine.This.Since(), nil)
		return probe.Refuse(syscall.EILSEQ, "the instruction's operand is not within reach of a copy")
	}
	s.Slot = slot
	machine.This.Write(slot, code)
	return nil
}

// detours is how many sites have one. guarded by mu
var detours int

// retire gives back what s has of the pools. A CPU may still be in it: until the
// grace period that began at since is over.
func (s *site) retire(since text.InUse) {
	if s.Slot != 0 {
		machine.This.Slots.Put(s.Slot, since, nil)
	}
	if s.detour != nil {
		detours--
		machine.This.Detours.Put(s.detour.Head, since, s.detour)
	}
}

// probes returns the probes in order of registration.
//
// Context: any.
func (s *site) probes() []*Kprobe { return s.list.All() }

// add and remove change the list. From now on k is the probe of the module that
// registers it.
func (s *site) add(k *Kprobe) {
	k.owner = module.Current()
	s.changed(s.list.Add(k))
}

func (s *site) remove(k *Kprobe) { s.changed(s.list.Remove(k)) }

// replaced are lists that a hit may still go through: the collector does not wait
// for an interrupt that came to an idle CPU. Until all CPUs are quiesced.
// guarded by mu
var replaced []**Kprobe

// changed keeps the list that was replaced and works out again what hits read.
func (s *site) changed(was **Kprobe) {
	if was != nil {
		replaced = append(replaced, was)
	}
	s.post.Store(slices.ContainsFunc(s.probes(), (*Kprobe).wantsPost))
	s.decide()
	s.shorten()
}

// shorten opens or closes the short way of a hit by a jump: for a lone probe, or a
// kprobe and a return probe behind it.
func (s *site) shorten() {
	var call, note, second uintptr
	switch l := s.probes(); {
	case len(l) == 1 && l[0].calls():
		call = uintptr(unsafe.Pointer(l[0])) // kept by list
	case len(l) == 1 && l[0].notes():
		note = uintptr(unsafe.Pointer(l[0]))
	case len(l) == 2 && l[0].calls() && l[1].notes():
		call, second = uintptr(unsafe.Pointer(l[0])), uintptr(unsafe.Pointer(l[1]))
	}
	s.second.Store(0) // never with another call in front
	s.call.Store(call)
	s.note.Store(note)
	s.second.Store(second)
}

// wanted reports whether some probe is enabled: the site is to be armed.
func (s *site) wanted() bool {
	return slices.ContainsFunc(s.probes(), func(k *Kprobe) bool { return !k.Flags.Has(flagOff) })
}

// decide makes hits take the way that fits the site as it is now. With a detour it
// is the copy in there, so that no CPU comes back into the middle of its region,
// unless there is another probe in what the copy would execute.
func (s *site) decide() {
	how := s.Way(s.post.Load())
	if s.detour != nil && !s.post.Load() && !s.crowded() {
		how = place.Detoured
	}
	if old := s.how.Swap(uint32(how)); place.How(old) != how {
		s.turn++
	}
	s.lead.Store(s.leads(how))
}

// leads returns where the CPU gets the instruction done by itself, if how says so:
// a copy, or what follows a branch. 0: there is more to do.
//
// Context: any.
func (s *site) leads(how place.How) uintptr {
	switch how {
	case place.Boosted:
		return s.Slot
	case place.Branched:
		return uintptr(s.To)
	case place.Detoured:
		return s.resume.Load()
	}
	return 0
}

// crowded reports whether another probe, or a watchpoint of what is executed, is on the
// bytes that the detour covers.
func (s *site) crowded() bool {
	for off := uintptr(1); off < s.detour.Len; off++ {
		if at := s.Addr + off; sites.Find(at) != nil || machine.This.Watched(at) {
			return true
		}
	}
	return false
}

// jumpable reports whether all probes on s can be called from a detour. Not those
// within a stack check: a probe at the entry may have decided what comes of it,
// and a copy would make it again.
func (s *site) jumpable() bool {
	return s.Within == 0 && !s.post.Load() && !slices.ContainsFunc(s.probes(), func(k *Kprobe) bool { return k.kind == kindJprobe })
}

// disarmedAll is what /sys/kernel/debug/kprobes/enabled says: no site is armed,
// whatever its probes want. guarded by mu
var disarmedAll bool

// template returns what a detour for the probes of s begins with.
func (s *site) template() detour.Template {
	switch {
	case detour.Plain.Get():
		return detour.CallsGo
	case s.note.Load() != 0:
		return detour.Note
	}
	return detour.Call
}

// original returns the n bytes of code at addr as the image has them, without
// the breakpoints of other probes.
func original(addr, n uintptr) []byte {
	code := append([]byte(nil), machine.This.Code(addr, n)...)
	for i := range code {
		if code[i] != insn.OpInt3 && code[i] != insn.OpJmp {
			continue
		}
		s := sites.Find(addr + uintptr(i))
		switch {
		case s == nil:
		case s.jumped:
			copy(code[i:], s.Orig[:insn.JumpSize])
		case code[i] == insn.OpInt3:
			code[i] = s.Orig[0]
		}
	}
	return code
}
