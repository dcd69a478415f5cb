package kprobes

import (
	"fmt"
	"syscall"
	"unsafe"

	"sonde/kernel/probe"
)

// register puts each of ks, which are probes of one kind, on its site, or none,
// and arms the sites.
func register(kind kind, ks []*Kprobe) error {
	mu.Lock()
	defer mu.Unlock()
	for i, k := range ks {
		if err := k.attach(kind); err != nil {
			detach(ks[:i])
			return fmt.Errorf("kprobes: register %s: %w", k.name(), err)
		}
	}
	mach.watch()
	rearm(sitesOf(ks))
	kick()
	return nil
}

// attach puts k on its site, made if need be; the site is not armed yet.
func (k *Kprobe) attach(kind kind) error {
	if k.Flags.Has(flagRegistered) {
		return probe.Refuse(syscall.EEXIST, "it is registered already")
	}
	k.kind = kind
	if err := k.prepare(); err != nil {
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
		if err := s.house(); err != nil {
			return err
		}
	}
	k.Addr, k.site = addr, s
	k.open()
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

// prepare makes what a probe of k's kind needs before it can be hit.
//
// Errors: as RegisterKretprobe and RegisterJprobe say.
func (k *Kprobe) prepare() error {
	switch k.kind {
	case kindKretprobe:
		return asKretprobe(k).prepare()
	case kindJprobe:
		return asJprobe(k).setHandler()
	}
	return nil
}

// open begins k's account, and says how hits call its handlers.
func (k *Kprobe) open() {
	k.ledger.Open(mach.cpus)
	k.Flags.Clear(flagGone | flagSSE | flagNotes | flagSpecial)
	k.Flags.Set(flagRegistered | k.manner())
}

// manner returns the flags that say how hits call k's handlers.
func (k *Kprobe) manner() probe.Flags {
	switch {
	case k.touchesSSE():
		return flagSSE | flagSpecial
	case k.kind == kindKretprobe:
		return flagNotes
	case k.kind == kindJprobe || k.PreHandler == nil:
		return flagSpecial
	}
	return 0
}

// touchesSSE reports whether a handler of k may change X0-X14. A jprobe saves
// them anyway.
func (k *Kprobe) touchesSSE() bool {
	if k.kind == kindKretprobe {
		rp := asKretprobe(k)
		rp.sse = mach.writesSSE(rp.Handler)
		rp.direct = nil
		if !rp.sse && !Plain.Get() {
			rp.direct = rp.Handler
		}
		return mach.writesSSE(rp.EntryHandler)
	}
	return mach.writesSSE(k.PreHandler) || mach.writesSSE(k.PostHandler)
}

// siteBytes is about what a probed place takes of the kernel's memory, with its
// probe and its detour, without the accounts.
const siteBytes = 2 << 10

// room refuses one more probed place when they would take half of the memory:
// the kernel would end in a state in which nothing else can be done.
func room() error {
	each := siteBytes + uint64(mach.cpus+1)*uint64(probe.AccountBytes)
	if n := uint64(sites.Len() + 1); n*each > mach.memory/2 {
		return probe.Refuse(syscall.ENOMEM, "%d probed places are as many as there is memory for", sites.Len())
	}
	return nil
}

// fits checks what k's kind and handlers ask of the site.
//
// Errors: EILSEQ a post-handler, but the instruction cannot be stepped; EINVAL
// not an entry, or a function that switches stacks; EBUSY there is a jprobe
// already.
func (k *Kprobe) fits(s *site, fn symbol) error {
	if k.PostHandler != nil && s.way(true) == Refused {
		return probe.Refuse(syscall.EILSEQ, "the instruction cannot be single-stepped, which a post-handler needs")
	}
	if k.kind == kindKprobe {
		return nil
	}
	if s.addr != uintptr(fn.Addr) {
		return probe.Refuse(syscall.EINVAL, "%s is not the entry of a function", k.kind.noun())
	}
	if why := mach.noReturn(fn); k.kind == kindKretprobe && why != "" {
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
	var gone []*Kprobe
	for _, k := range ks {
		if !k.Flags.Has(flagRegistered) {
			k.Addr = 0
			continue
		}
		k.Flags.Clear(flagRegistered)
		k.site.remove(k)
		gone = append(gone, k)
		if k.kind == kindKretprobe {
			graveyard = append(graveyard, asKretprobe(k))
		}
	}
	if len(gone) == 0 {
		return
	}
	all := sitesOf(gone)
	if !rearm(all) {
		quiesce()
	}
	since := mach.since()
	for _, s := range all {
		if len(s.probes()) > 0 {
			continue
		}
		sites.Remove(s.addr)
		neighboured(s.addr)
		s.retire(since)
	}
	for _, k := range gone {
		k.site = nil
		if k.SymbolName != "" {
			k.Addr = 0
		}
	}
	tidyGraveyard()
	kick()
}

// graveyard keeps return probes that were unregistered with calls in flight:
// those calls still return through their instances. guarded by mu
var graveyard []*Kretprobe

func tidyGraveyard() {
	keep := graveyard[:0]
	for _, rp := range graveyard {
		if rp.pool.inUse() > 0 {
			keep = append(keep, rp)
		}
	}
	clear(graveyard[len(keep):])
	graveyard = keep
}

// What a return probe may ask for: calls at the same time, far beyond the
// goroutines of this kernel, and bytes for each.
const (
	maxMaxActive = 1 << 20
	maxDataSize  = 1 << 16
)

// prepare makes the instances.
//
// Errors: ERANGE, ENOMEM, EBUSY: see RegisterKretprobe.
func (rp *Kretprobe) prepare() error {
	n := rp.MaxActive
	if n <= 0 {
		n = mach.cpus // not preemptible: spec/4 §1.3.1
	}
	each := uint64(unsafe.Sizeof(KretprobeInstance{}) + rp.DataSize)
	switch flying := rp.pool.inUse(); {
	case n > maxMaxActive:
		return probe.Refuse(syscall.ERANGE, "MaxActive is %d, more than %d", n, maxMaxActive)
	case rp.DataSize > maxDataSize:
		return probe.Refuse(syscall.ERANGE, "DataSize is %d, more than %d", rp.DataSize, maxDataSize)
	case flying != 0:
		return probe.Refuse(syscall.EBUSY, "%d calls from before have not returned", flying)
	case uint64(n)*each > mach.memory/4:
		return probe.Refuse(syscall.ENOMEM, "%d instances of %d bytes need %d MiB, more than a quarter of memory",
			n, each, uint64(n)*each>>20)
	}
	if rp.pool.instances != nil {
		quiesce() // who gives an instance back may not have put it on a list yet
	}
	rp.MaxActive = n
	rp.pool.init(rp, n, mach.cpus, rp.DataSize)
	return nil
}
