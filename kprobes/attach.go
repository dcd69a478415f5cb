package kprobes

import (
	"cmp"
	"fmt"
	"slices"
	"syscall"

	"sonde/arch/amd64/goabi"
	"sonde/arch/amd64/trap"
	"sonde/kallsyms"
	"sonde/kernel/grace"
	"sonde/kernel/module"
	"sonde/kernel/refusal"
	"sonde/kprobes/machine"
	"sonde/kprobes/place"
	"sonde/probe/ledger"
)

// register puts all of ks, which are probes of one kind, on their points, or none of them. It arms the points
// and warns of handlers that will be abandoned.
//
// Errors: of the first probe that is refused.
func register(what kind, ks []*Kprobe) error {
	if slices.Contains(ks, nil) {
		return refusal.New(syscall.EINVAL, "register: there is no %s, the pointer is nil", what.noun())
	}
	if err := registerUnadvised(what, ks); err != nil {
		return err
	}
	advise(ks)
	return nil
}

// registerUnadvised is register without the warnings.
func registerUnadvised(what kind, ks []*Kprobe) error {
	mu.Lock()
	defer mu.Unlock()
	_, err := attachAll(ks, func(*Kprobe) kind { return what }, nil)
	if err != nil {
		return err
	}
	if written := begin(ks); len(written) > 0 {
		quiesce(written)
	}
	return nil
}

// Insert registers the probes of a link, or the entries of its return probes, or none of them. But those that are
// optional may be refused: it returns the others.
//
// Errors: those of RegisterKprobe and RegisterKretprobe, for the first probe that is refused and not optional.
func Insert(ks []*Kprobe, optional func(*Kprobe) bool) (kept []*Kprobe, c grace.Change, err error) {
	if err := inHandler(); err != nil {
		return nil, c, err
	}
	mu.Lock()
	defer mu.Unlock()
	if kept, err = attachAll(ks, kindOfPlace, optional); err != nil {
		return nil, c, err
	}
	if written := begin(kept); len(written) > 0 {
		c = postponed(written)
	}
	c.Then = append(c.Then, func() { advise(kept) })
	return kept, c, nil
}

// kindOfPlace returns which probe a link needs.
func kindOfPlace(k *Kprobe) kind {
	if k.Place.Site.Return {
		return kindKretprobe
	}
	return kindKprobe
}

// Remove unregisters the probes of a link.
//
// Context: goroutine, not a handler.
func Remove(ks []*Kprobe) grace.Change {
	machine.This.Forbid("unregisters probes")
	mu.Lock()
	defer mu.Unlock()
	gone, written := takeOut(ks)
	c := postponed(written)
	c.Then = append(c.Then, func() {
		mu.Lock()
		defer mu.Unlock()
		forget(gone)
	})
	return c
}

// advise warns of the handlers of ks that will be abandoned.
func advise(ks []*Kprobe) {
	var seen []uintptr // the probes of a batch mostly share their handlers
	for _, k := range ks {
		for _, h := range k.whole().handlers() {
			if pc := goabi.CodeOf(h.f); pc != 0 && !slices.Contains(seen, pc) {
				seen = append(seen, pc)
				machine.This.Advise(h.role, k.name(), pc)
			}
		}
	}
}

// attachAll puts all of ks on their points, or none of them, but those that are optional and refused: it returns
// the others. The points are not armed yet. optional may be nil. Called with mu held.
func attachAll(ks []*Kprobe, kindOf func(*Kprobe) kind, optional func(*Kprobe) bool) (kept []*Kprobe, err error) {
	kept = make([]*Kprobe, 0, len(ks))
	for _, k := range ks {
		err := k.attach(kindOf(k))
		switch {
		case err == nil:
			kept = append(kept, k)
		case optional == nil || !optional(k):
			detach(kept)
			return nil, k.named(err)
		}
	}
	return kept, nil
}

// begin arms the points of ks, which are new on them, and returns what rearm does. Called with mu held.
func begin(ks []*Kprobe) (written []uintptr) {
	machine.This.Watch()
	written = rearm(pointsOf(ks))
	kick()
	return written
}

// unregister takes each of ks off its point.
func unregister(ks []*Kprobe) {
	mu.Lock()
	defer mu.Unlock()
	detach(ks)
}

// attach puts k on its point, which it makes if necessary; the point is not armed yet.
func (k *Kprobe) attach(kind kind) error {
	switch {
	case k.registered():
		return refusal.New(syscall.EEXIST, "it is registered already")
	case k.Flags.Has(^FlagDisabled):
		return refusal.New(syscall.EINVAL, "Flags is %#x, but only FlagDisabled may be set; is the probe a copy of a registered one?", k.Flags)
	}
	k.kind = kind
	if err := k.whole().prepare(); err != nil {
		return err
	}
	addr, fn, err := k.resolve()
	if err != nil {
		return err
	}
	pt := points.Find(addr)
	first := pt == nil
	if first {
		if pt, err = newPoint(addr, fn); err != nil {
			return err
		}
	}
	if err := k.fits(pt, fn); err != nil {
		return err
	}
	if err := room(first); err != nil {
		return err
	}
	if first {
		if err := pt.copyToSlot(); err != nil {
			return err
		}
	}
	probes++
	k.Addr, k.point = addr, pt
	k.ledger.Open(machine.This.CPUs)
	k.openTally()
	k.Flags.Clear(flagsOwn)
	k.Flags.Set(flagRegistered | k.whole().manner())
	if k.wantsPost() || !k.jumpable() {
		unjump([]*point{pt})
	}
	unjumpAround(addr)
	pt.add(k)
	if first { // with its list: a CPU may still take an INT3 that was here before
		points.Insert(pt)
		trap.SetBreakpoints(points.Entries())
		neighboured(addr)
	}
	return nil
}

// registered reports whether k is registered. Its flag is not enough: k may be a copy of a
// registered probe. Called with mu held.
func (k *Kprobe) registered() bool {
	return k.Flags.Has(flagRegistered) && k.point != nil && slices.Contains(k.point.probes(), k)
}

// probes counts the registered ones. guarded by mu
var probes uint64

// probeBytes is roughly the kernel's memory that a probe takes, with its place and detour but
// without ledgers.
const probeBytes = 2 << 10

// room refuses another probe if all of them would take too much of the memory: nothing else could
// run then. A place that has no probe yet gets one up to half of the memory, others up to three quarters.
func room(first bool) error {
	each := probeBytes + uint64(machine.This.CPUs+1)*uint64(ledger.AccountBytes)
	most := machine.This.Memory / 2
	if !first {
		most += most / 2
	}
	if (probes+1)*each > most {
		return refusal.New(syscall.ENOMEM, "no memory for another probe; %d are registered", probes)
	}
	return nil
}

// fits checks that the point suits k's kind and handlers.
//
// Errors: EILSEQ for a post-handler on an instruction that cannot be stepped; EINVAL if
// addr is not an entry, or the function switches stacks; EBUSY if there is a jprobe
// or a camera already.
func (k *Kprobe) fits(pt *point, fn kallsyms.Symbol) error {
	if k.PostHandler != nil && pt.Way(true) == place.Refused {
		return refusal.New(syscall.EILSEQ, "the instruction cannot be single-stepped, which a post-handler needs")
	}
	if k.kind == kindCamera && pt.camera() != nil {
		return refusal.New(syscall.EBUSY, "a camera is there already; wait until it has recorded its hit")
	}
	if k.kind == kindKprobe || k.kind == kindCamera {
		return nil
	}
	if pt.Addr != uintptr(fn.Addr) {
		return refusal.New(syscall.EINVAL, "%s is not the entry of a function, where a %s must be", kallsyms.Where(uint64(pt.Addr)), k.kind.noun())
	}
	if why := machine.This.NoReturn(fn); k.kind == kindKretprobe && why != "" {
		return refusal.New(syscall.EINVAL, "%s %s", fn.Name, why)
	}
	for _, other := range pt.probes() {
		if k.kind == kindJprobe && other.kind == kindJprobe {
			return refusal.New(syscall.EBUSY, "%s has a jprobe already", fn.Name)
		}
	}
	return nil
}

// detach unregisters those of ks that are registered, of any kind. Called with mu
// held.
func detach(ks []*Kprobe) {
	if gone, written := takeOut(ks); len(gone) > 0 {
		quiesce(written)
		forget(gone)
	}
}

// takeOut takes those of ks that are registered off their points, and disarms these. When all CPUs execute what was
// written, and have been outside of all handlers since, forget must follow. Called with mu held.
func takeOut(ks []*Kprobe) (gone []*Kprobe, written []uintptr) {
	gone = make([]*Kprobe, 0, len(ks))
	for _, k := range ks {
		if k == nil {
			continue
		}
		if !k.registered() {
			k.Addr = 0
			continue
		}
		k.Flags.Clear(flagRegistered)
		k.point.remove(k)
		probes--
		gone = append(gone, k)
	}
	return gone, rearm(pointsOf(gone))
}

// forget gives back what probes have had that no hit knows any more. Called with mu held.
func forget(gone []*Kprobe) {
	since := machine.This.Since()
	for _, pt := range pointsOf(gone) {
		if len(pt.probes()) > 0 || points.Find(pt.Addr) != pt {
			continue // another probe is there, or has been the last to go
		}
		points.Remove(pt.Addr)
		neighboured(pt.Addr)
		pt.retire(since)
	}
	for _, k := range gone {
		k.closeTally()
		k.point = nil
		k.Flags.Clear(flagsOwn)
		k.whole().detached()
		if k.SymbolName != "" {
			k.Addr = 0
		}
	}
	kick()
}

// pointsOf returns the points of ks, each of them once.
func pointsOf(ks []*Kprobe) (list []*point) {
	round++
	list = make([]*point, 0, len(ks))
	for _, k := range ks {
		if pt := k.point; pt != nil && pt.seen != round {
			pt.seen = round
			list = append(list, pt)
		}
	}
	return list
}

// round counts the calls of pointsOf. guarded by mu
var round uint64

// toggle enables or disables all of ks, or none.
func toggle(ks []*Kprobe, on bool) error {
	mu.Lock()
	defer mu.Unlock()
	for _, k := range ks {
		if err := k.togglable(on); err != nil {
			return err
		}
	}
	for _, k := range ks {
		if on {
			k.Flags.Clear(FlagDisabled)
		} else {
			k.Flags.Set(FlagDisabled)
		}
		k.point.shorten()
	}
	if written := rearm(pointsOf(ks)); len(written) > 0 || !on {
		quiesce(written)
	}
	kick()
	return nil
}

// togglable returns why k cannot be enabled or disabled. Called with mu held.
func (k *Kprobe) togglable(on bool) error {
	what := map[bool]string{true: "enable", false: "disable"}[on]
	switch {
	case k == nil:
		return refusal.New(syscall.EINVAL, "%s: there is no probe, the pointer is nil", what)
	case !k.registered():
		return refusal.New(syscall.EINVAL, "%s %s: it is not registered", what, k.name())
	case on && k.Flags.Has(flagGone):
		return refusal.New(syscall.EINVAL, "enable %s: it was disabled permanently, because its handler was abandoned or its module was unloaded", k.name())
	}
	return nil
}

// Forget unregisters the probes of a module, except those of links, and returns what they were.
// Other owners' probes on the module's functions are disabled for good.
//
// Context: goroutine, not a handler.
// Source: kprobes.txt, appendix A, [GONE].
func Forget(name string) (forgotten []string) {
	mu.Lock()
	defer mu.Unlock()
	var mine []*Kprobe
	var gone []*point
	for _, pt := range slices.SortedFunc(points.All, func(a, b *point) int { return cmp.Compare(a.Addr, b.Addr) }) {
		for _, k := range pt.probes() {
			switch {
			case k.owner == name && k.Place == nil: // links are closed by package attach
				forgotten = append(forgotten, fmt.Sprintf("a %s at %s", k.kind.noun(), kallsyms.Where(uint64(pt.Addr))))
				mine = append(mine, k)
			case module.Of(pt.Addr) == name:
				k.Flags.Set(flagGone)
				gone = append(gone, pt)
			}
		}
	}
	detach(mine)
	for _, pt := range gone {
		pt.shorten()
	}
	rearmNow(gone)
	return forgotten
}
