package kprobes

import (
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"unsafe"

	"sonde/arch/amd64/insn"
	"sonde/arch/amd64/trap"
	"sonde/kallsyms"
	"sonde/kernel/module"
	"sonde/kernel/refusal"
	"sonde/kernel/text"
	"sonde/kprobes/detour"
	"sonde/kprobes/machine"
	"sonde/kprobes/place"
	"sonde/probe/ledger"
)

// points has the probed places by address. guarded by mu; hits read it without.
var points ledger.Table[point]

// mu guards everything that hits do not read: see doc.go.
var mu sync.Mutex

// A point is a probed address: the instruction there, its copy, and the probes
// on it.
type point struct {
	trap        trap.Int3 // first; its Code is as form says
	place.Place           // never changed

	// Written with mu held, read by hits:
	list   ledger.List[Kprobe] // in order of registration
	post   atomic.Bool         // some probe has a post-handler
	way    atomic.Uint32       // a place.Way: how a hit gets the instruction executed
	lead   atomic.Uintptr      // the result of leads(way)
	call   atomic.Uintptr      // the *Kprobe there, if it is the only one and simple; else others
	note   atomic.Uintptr      // the same for a return probe without an entry handler
	second atomic.Uintptr      // such a return probe after call, if these two are the only ones
	resume atomic.Uintptr      // where the detour's copy begins, once there is a detour

	// guarded by mu:
	armed  bool           // INT3 is in place, or
	jumped bool           // a jump to the detour
	fused  bool           // the jump leads to its Fused
	detour *detour.Detour // nil if there is none
	stub   *detour.Stub   // nil if there is none
	turn   int            // how often way has changed
	seen   uint64         // the round of pointsOf that saw it last
}

// decoder finds instructions. guarded by mu
var decoder = place.Decoder{Code: original}

// newPoint returns the point that a probe at addr, in function fn, would have. It changes
// nothing: see (*point).copyToSlot.
//
// Errors: EINVAL fn must not be probed; EILSEQ no instruction begins at addr, or it cannot
// be executed elsewhere.
func newPoint(addr uintptr, fn kallsyms.Symbol) (*point, error) {
	if why := machine.This.Blacklisted(fn); why != "" {
		return nil, refusal.New(syscall.EINVAL, "%s may not be probed: %s", fn.Name, why)
	}
	pt := new(point)
	if err := pt.Read(&decoder, fn, addr); err != nil {
		return nil, err
	}
	pt.trap = trap.Int3{Addr: addr, Code: machine.This.Known}
	return pt, nil
}

// copyToSlot makes a copy of the instruction in a slot, unless it is emulated.
//
// Errors: ENOMEM; EILSEQ no free slot is within reach of the instruction's operand.
func (pt *point) copyToSlot() error {
	if !pt.NeedsSlot() {
		return nil
	}
	slots := machine.This.Slots
	slot, ok := slots.Take(pt.Addr)
	if !ok {
		return refusal.New(syscall.ENOMEM, "all %d slots are in use", slots.Used())
	}
	code, ok := pt.CopyFor(slot)
	if !ok {
		slots.Put(slot, machine.This.Since(), nil)
		return refusal.New(syscall.EILSEQ, "the instruction's operand is too far away for a copy of the instruction to reach")
	}
	pt.Slot = slot
	machine.This.Write(slot, code)
	return nil
}

// detours counts the points with a detour. guarded by mu
var detours int

// retire frees the slot and the detour of pt. A CPU may be in them until the grace period
// that began at since is over.
func (pt *point) retire(since text.InUse) {
	if pt.Slot != 0 {
		machine.This.Slots.Put(pt.Slot, since, nil)
	}
	if pt.detour != nil {
		detours--
		machine.This.Detours.Put(pt.detour.Head, since, pt.detour)
		if pt.detour.Apart != 0 {
			machine.This.Detours.Put(pt.detour.Apart, since, pt.detour)
		}
	}
	pt.dropStub(since)
}

// probes returns the probes in order of registration.
//
// Context: any.
func (pt *point) probes() []*Kprobe { return pt.list.All() }

// add and remove change the list. add makes k belong to the module that registers it.
func (pt *point) add(k *Kprobe) {
	k.owner = module.Current()
	if k.Place != nil {
		k.owner = k.Place.Link.Options.Owner
	}
	if k.kind == kindCamera {
		pt.changed(pt.list.AddFirst(k))
		return
	}
	pt.changed(pt.list.Add(k))
}

func (pt *point) remove(k *Kprobe) { pt.changed(pt.list.Remove(k)) }

// replaced keeps lists that a hit may still be using until all CPUs have been outside
// handlers: the garbage collector does not see an interrupt on an idle CPU. guarded by mu
var replaced []**Kprobe

// changed keeps the replaced list was, and updates what hits read.
func (pt *point) changed(was **Kprobe) {
	if was != nil {
		replaced = append(replaced, was)
	}
	pt.post.Store(slices.ContainsFunc(pt.probes(), (*Kprobe).wantsPost))
	pt.decide()
	pt.shorten()
}

// shorten enables or disables the short path of a hit by a jump: it is for a single probe,
// or for a kprobe and a return probe after it.
func (pt *point) shorten() {
	call, note, second := wordOf(&others), uintptr(0), uintptr(0)
	switch l := pt.probes(); {
	case len(l) == 1 && l[0].calls():
		call = wordOf(l[0])
	case len(l) == 1 && l[0].notes():
		note = wordOf(l[0])
	case len(l) == 2 && l[0].calls() && l[1].notes():
		call, second = wordOf(l[0]), wordOf(l[1])
	}
	pt.second.Store(0) // never if another call comes first
	pt.call.Store(call)
	pt.note.Store(note)
	pt.second.Store(second)
	if slices.ContainsFunc(pt.probes(), func(k *Kprobe) bool { return k.Flags.Has(flagGone) }) {
		pt.lengthen() // one may have been abandoned meanwhile
	}
}

// wordOf returns where k is. Points have a list, which keeps it.
func wordOf(k *Kprobe) uintptr { return uintptr(unsafe.Pointer(k)) }

// others is what the code of a hit by a jump calls where there is not just one probe that is simple. Its handler goes
// through the list of the place.
var others Kprobe

// lengthen takes the short path away.
//
// Context: any.
func (pt *point) lengthen() {
	pt.call.Store(wordOf(&others))
	pt.note.Store(0)
	pt.second.Store(0)
}

// wanted reports whether some probe is enabled, so that the point must be armed.
func (pt *point) wanted() bool {
	return slices.ContainsFunc(pt.probes(), func(k *Kprobe) bool { return !k.Flags.Has(flagOff) })
}

// decide chooses how hits execute the instruction. With a detour they use its copy, so that
// no CPU returns into the middle of the region, unless the copy would skip another probe.
func (pt *point) decide() {
	way := pt.Way(pt.post.Load())
	if pt.detour != nil && !pt.post.Load() && !pt.crowded() {
		way = place.Detoured
	}
	if pt.camera() != nil && pt.leads(way) == 0 {
		way |= place.Recorded
	}
	if old := pt.way.Swap(uint32(way)); place.Way(old) != way {
		pt.turn++
	}
	pt.lead.Store(pt.leads(way))
	if pt.stubbed() && pt.stub.Leads != pt.lead.Load() { // where it leads is a copy still, for a grace period
		pt.settle()
	}
}

// leads returns where the CPU can continue by itself, if way allows that: at a copy, or
// after a branch. It returns 0 if there is more to do.
//
// Context: any.
func (pt *point) leads(way place.Way) uintptr {
	switch way {
	case place.Boosted:
		return pt.Slot
	case place.Branched:
		return uintptr(pt.To)
	case place.Detoured:
		return pt.resume.Load()
	}
	return 0
}

// crowded reports whether another probe, or an execute watchpoint, is on the bytes that the
// detour covers.
func (pt *point) crowded() bool {
	for off := uintptr(1); off < pt.detour.Len; off++ {
		if at := pt.Addr + off; points.Find(at) != nil || machine.This.Watched(at) {
			return true
		}
	}
	return false
}

// jumpable reports whether all probes on pt can be called from a detour. Probes within a
// stack check cannot: a probe at the entry may have decided the check, and a copy would
// repeat it.
func (pt *point) jumpable() bool {
	return pt.Within == 0 && !pt.post.Load() && !slices.ContainsFunc(pt.probes(), func(k *Kprobe) bool { return !k.jumpable() })
}

// disarmedAll is set by /sys/kernel/debug/kprobes/enabled: no point is armed, whatever its
// probes want. guarded by mu
var disarmedAll bool

// template returns how a detour for the probes of pt begins.
func (pt *point) template() detour.Template {
	switch {
	case detour.Plain.Get():
		return detour.CallsGo
	case pt.note.Load() != 0:
		return detour.Note
	}
	return detour.Call
}

// original returns the n bytes of code at addr as the image has them, without breakpoints.
func original(addr, n uintptr) []byte {
	code := append([]byte(nil), machine.This.Code(addr, n)...)
	for i := range code {
		if code[i] != insn.OpInt3 && code[i] != insn.OpJmp {
			continue
		}
		pt := points.Find(addr + uintptr(i))
		switch {
		case pt == nil:
		case pt.jumped:
			copy(code[i:], pt.Orig[:insn.JumpSize])
		case code[i] == insn.OpInt3:
			code[i] = pt.Orig[0]
		}
	}
	return code
}
