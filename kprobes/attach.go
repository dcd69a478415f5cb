package kprobes

import (
	"cmp"
	"fmt"
	"slices"
	"syscall"

	"sonde/arch/amd64/goabi"
	"sonde/kallsyms"
	"sonde/kernel/module"
	"sonde/kernel/probe"
	"sonde/kprobes/machine"
	"sonde/kprobes/place"
)

// register puts all of ks, which are probes of one kind, on their sites, or none of them. But those that
// are optional may be refused: it returns the others. It arms the sites and warns of handlers that will be
// abandoned. optional may be nil.
//
// Errors: of the first probe that is refused and not optional.
func register(kind kind, ks []*Kprobe, optional func(*Kprobe) bool) (kept []*Kprobe, err error) {
	if kept, err = attachAll(kind, ks, optional); err == nil {
		advise(kept)
	}
	return kept, err
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

// attachAll is register without the warnings.
func attachAll(kind kind, ks []*Kprobe, optional func(*Kprobe) bool) (kept []*Kprobe, err error) {
	if slices.Contains(ks, nil) {
		return nil, probe.Refuse(syscall.EINVAL, "kprobes: register: there is no %s, the pointer is nil", kind.noun())
	}
	mu.Lock()
	defer mu.Unlock()
	kept = make([]*Kprobe, 0, len(ks))
	for _, k := range ks {
		err := k.attach(kind)
		switch {
		case err == nil:
			kept = append(kept, k)
		case optional == nil || !optional(k):
			detach(kept)
			return nil, fmt.Errorf("kprobes: register %s: %w", k.name(), err)
		}
	}
	machine.This.Watch()
	rearm(sitesOf(kept))
	kick()
	return kept, nil
}

// unregister takes each of ks off its site.
func unregister(ks []*Kprobe) {
	mu.Lock()
	defer mu.Unlock()
	detach(ks)
}

// attach puts k on its site, which it makes if necessary; the site is not armed yet.
func (k *Kprobe) attach(kind kind) error {
	switch {
	case k.registered():
		return probe.Refuse(syscall.EEXIST, "it is registered already")
	case k.Flags.Has(^FlagDisabled):
		return probe.Refuse(syscall.EINVAL, "Flags is %#x, but only FlagDisabled may be set; is the probe a copy of a registered one?", k.Flags)
	}
	k.kind = kind
	if err := k.whole().prepare(); err != nil {
		return err
	}
	addr, fn, err := k.resolve()
	if err != nil {
		return err
	}
	s := sites.Find(addr)
	first := s == nil
	if first {
		if s, err = newSite(addr, fn); err != nil {
			return err
		}
	}
	if err := k.fits(s, fn); err != nil {
		return err
	}
	if first {
		if err := room(); err != nil {
			return err
		}
		if err := s.copyToSlot(); err != nil {
			return err
		}
	}
	k.Addr, k.site = addr, s
	k.ledger.Open(machine.This.CPUs)
	k.Flags.Clear(flagsOwn)
	k.Flags.Set(flagRegistered | k.whole().manner())
	if k.wantsPost() || kind == kindJprobe {
		unjump([]*site{s})
	}
	unjumpAround(addr)
	s.add(k)
	if first { // with its list: a CPU may still take an INT3 that was here before
		sites.Insert(s)
		neighboured(addr)
	}
	return nil
}

// registered reports whether k is registered. Its flag is not enough: k may be a copy of a
// registered probe. Called with mu held.
func (k *Kprobe) registered() bool {
	return k.Flags.Has(flagRegistered) && k.site != nil && slices.Contains(k.site.probes(), k)
}

// siteBytes is roughly the kernel's memory that a probed place takes, with its probe and
// detour but without ledgers.
const siteBytes = 2 << 10

// room refuses another probed place if all of them would take half of the memory: nothing
// else could run then.
func room() error {
	each := siteBytes + uint64(machine.This.CPUs+1)*uint64(probe.AccountBytes)
	if n := uint64(sites.Len() + 1); n*each > machine.This.Memory/2 {
		return probe.Refuse(syscall.ENOMEM, "no memory for another probed place; %d are in use", sites.Len())
	}
	return nil
}

// fits checks that the site suits k's kind and handlers.
//
// Errors: EILSEQ for a post-handler on an instruction that cannot be stepped; EINVAL if
// addr is not an entry, or the function switches stacks; EBUSY if there is a jprobe
// already.
func (k *Kprobe) fits(s *site, fn kallsyms.Symbol) error {
	if k.PostHandler != nil && s.Way(true) == place.Refused {
		return probe.Refuse(syscall.EILSEQ, "the instruction cannot be single-stepped, which a post-handler needs")
	}
	if k.kind == kindKprobe {
		return nil
	}
	if s.Addr != uintptr(fn.Addr) {
		return probe.Refuse(syscall.EINVAL, "%s is not the entry of a function, where a %s must be", kallsyms.Where(uint64(s.Addr)), k.kind.noun())
	}
	if why := machine.This.NoReturn(fn); k.kind == kindKretprobe && why != "" {
		return probe.Refuse(syscall.EINVAL, "%s %s", fn.Name, why)
	}
	for _, other := range s.probes() {
		if k.kind == kindJprobe && other.kind == kindJprobe {
			return probe.Refuse(syscall.EBUSY, "%s has a jprobe already", fn.Name)
		}
	}
	return nil
}

// detach unregisters those of ks that are registered, of any kind. Called with mu
// held.
func detach(ks []*Kprobe) {
	gone := make([]*Kprobe, 0, len(ks))
	for _, k := range ks {
		if k == nil {
			continue
		}
		if !k.registered() {
			k.Addr = 0
			continue
		}
		k.Flags.Clear(flagRegistered)
		k.site.remove(k)
		gone = append(gone, k)
	}
	if len(gone) == 0 {
		return
	}
	all := sitesOf(gone)
	if !rearm(all) {
		quiesce()
	}
	since := machine.This.Since()
	for _, s := range all {
		if len(s.probes()) > 0 {
			continue
		}
		sites.Remove(s.Addr)
		neighboured(s.Addr)
		s.retire(since)
	}
	for _, k := range gone {
		k.site = nil
		k.Flags.Clear(flagsOwn)
		k.whole().detached()
		if k.SymbolName != "" {
			k.Addr = 0
		}
	}
	kick()
}

// sitesOf returns the sites of ks, each of them once.
func sitesOf(ks []*Kprobe) (list []*site) {
	round++
	list = make([]*site, 0, len(ks))
	for _, k := range ks {
		if s := k.site; s != nil && s.seen != round {
			s.seen = round
			list = append(list, s)
		}
	}
	return list
}

// round counts the calls of sitesOf. guarded by mu
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
		k.site.shorten()
	}
	if !rearm(sitesOf(ks)) && !on {
		quiesce()
	}
	kick()
	return nil
}

// togglable returns why k cannot be enabled or disabled. Called with mu held.
func (k *Kprobe) togglable(on bool) error {
	what := map[bool]string{true: "enable", false: "disable"}[on]
	switch {
	case k == nil:
		return probe.Refuse(syscall.EINVAL, "kprobes: %s: there is no probe, the pointer is nil", what)
	case !k.registered():
		return probe.Refuse(syscall.EINVAL, "kprobes: %s %s: it is not registered", what, k.name())
	case on && k.Flags.Has(flagGone):
		return probe.Refuse(syscall.EINVAL, "kprobes: enable %s: it was disabled permanently, because its handler was abandoned or its module was unloaded", k.name())
	}
	return nil
}

func init() { module.OnUnload(forgetModule) }

// forgetModule is a function for module.OnUnload. Other owners' probes on the module's functions are
// disabled for good. When it returns, no CPU is in a handler of the module.
//
// Source: kprobes.txt, appendix A, [GONE].
func forgetModule(name string) (left []string) {
	mu.Lock()
	defer mu.Unlock()
	var mine []*Kprobe
	var gone []*site
	for _, s := range slices.SortedFunc(sites.All, func(a, b *site) int { return cmp.Compare(a.Addr, b.Addr) }) {
		for _, k := range s.probes() {
			switch {
			case k.owner == name && k.Place == nil: // links are closed by package attach
				left = append(left, fmt.Sprintf("a %s at %s", k.kind.noun(), kallsyms.Where(uint64(s.Addr))))
				mine = append(mine, k)
			case module.Of(s.Addr) == name:
				k.Flags.Set(flagGone)
				gone = append(gone, s)
			}
		}
	}
	detach(mine)
	for _, s := range gone {
		s.shorten()
	}
	rearm(gone)
	return left
}
