//go:build tamago

package kprobes

import (
	"fmt"
	"sync"
	"syscall"
	"unsafe"

	"sonde/arch/amd64"
	"sonde/arch/amd64/trap"
	"sonde/kernel/cpu"
	"sonde/kernel/die"
	"sonde/kernel/goruntime"
	"sonde/kernel/irq"
	"sonde/kernel/kthread"
	"sonde/kernel/notifier"
	"sonde/kernel/smp"
)

// keepWatch has every CPU take timer interrupts from now on, to look for
// handlers that run too long. It begins with the first probe and does not end:
// ten interrupts a second are nothing, stopping the CPUs for each probe is not.
var keepWatch = sync.OnceFunc(func() { smp.CallAll(func() { irq.TickEvery(100e6) }) })

// mu guards everything that is not read by hits: see doc.go.
var mu sync.Mutex

// disarmedAll is what /sys/kernel/debug/kprobes/enabled says: no site is armed,
// whatever its probes want. guarded by mu
var disarmedAll bool

// stackRoom is what a stack check leaves free above the end of a stack, in bytes.
const stackRoom = goruntime.StackRoom

// stackGuard returns the stack limit of g, from where every prologue reads it.
//
// Context: trap.
func stackGuard(g unsafe.Pointer) uint64 { return uint64(goruntime.StackGuard(g)) }

// stackLow returns where the stack of g ends.
//
// Context: trap.
func stackLow(g unsafe.Pointer) uint64 {
	lo, _ := goruntime.Stack(g)
	return uint64(lo)
}

// chain returns this package's place in the notifier chain of vector v.
func chain(v int) *notifier.Block {
	b := &notifier.Block{Name: "kprobes", Priority: 100, Call: onFault}
	if v == amd64.VEC_NMI {
		b.Call = onNMI
	}
	return b
}

// Init takes this package's places: #BP and #DB before the notifier chain, as on
// Linux today, because each link of it would be a tenth of a hit; the other
// exceptions in the chain; returns and detours; handlers that break the rules.
//
// Context: boot, goroutine.
func Init() {
	goLean()
	trap.SetHandler(amd64.VEC_BP, onBreakpoint)
	trap.SetHandler(amd64.VEC_DB, onStep)
	trap.SetProbes(initState)
	trap.SetHandler(vecAbandon, onAbandon)
	goruntime.ReplaceReturns(trampolinePC, onDead)
	calls, _ := templates() // enter calls nobody
	goruntime.CopiesOf(calls.addr, uintptr(len(calls.code)), DetourMemory().Start, DetourMemory().End, DetourSize)
	for v := range notifier.Die {
		if v != amd64.VEC_BP && v != amd64.VEC_DB {
			notifier.Die[v].Register(chain(v))
		}
	}
	irq.OnTick(watch)
	die.SetOriginal(OriginalIP)
	kthread.Run("kprobe_disarm", func() {
		for disarmer.Wait(-1) {
			mu.Lock()
			rearm(allSites())
			mu.Unlock()
		}
	})
}

// RegisterKprobe sets k on its instruction and arms it.
//
// Context: goroutine.
// Errors: EINVAL both or neither of SymbolName and Addr given, the address is
// not in kernel text, or the code there may not be probed; ENOENT no such
// symbol; EILSEQ not the first byte of an instruction, or one that cannot be
// executed elsewhere; EEXIST k is registered; ENOMEM no slot left; EDEADLK called
// in a handler. Nothing has changed then.
// Source: spec/4 §4.1.
func RegisterKprobe(k *Kprobe) error {
	if err := inHandler(); err != nil {
		return err
	}
	return RegisterKprobes([]*Kprobe{k})
}

// RegisterKprobes registers each of ks, or none: if one is refused, those before
// it are unregistered again.
//
// Context: goroutine.
// Errors: as RegisterKprobe, for the first that is refused.
// Source: spec/4 §4.5.
func RegisterKprobes(ks []*Kprobe) error {
	if err := inHandler(); err != nil {
		return err
	}
	for _, k := range ks {
		if !k.has(flagRegistered) {
			k.kind = kindKprobe
		}
	}
	return register(ks)
}

func register(ks []*Kprobe) error {
	mu.Lock()
	defer mu.Unlock()
	for i, k := range ks {
		if err := k.attach(); err != nil {
			detachAll(ks[:i]) // a return probe on an armed site may have calls in flight
			return fmt.Errorf("kprobes: register %s: %w", k.name(), err)
		}
	}
	keepWatch()
	rearm(sitesOf(ks))
	kick()
	return nil
}

// attach puts k on its site, made if need be; the site is not armed yet.
func (k *Kprobe) attach() error {
	if k.has(flagRegistered) {
		return refuse(syscall.EEXIST, "it is registered already")
	}
	addr, fn, err := k.resolve()
	if err != nil {
		return err
	}
	s := find(addr)
	if s == nil {
		if s, err = newSite(addr, fn); err != nil {
			return err
		}
	}
	if err := k.fits(s, fn); err != nil {
		if len(s.probes()) == 0 {
			retire(s, now())
		}
		return err
	}
	k.Addr, k.site = addr, s
	if k.has(flagUsed) {
		k.ledger = ledger{}
	}
	k.sse = k.touchesSSE()
	k.clear(flagGone)
	k.set(flagRegistered | flagUsed)
	first := len(s.probes()) == 0
	if k.wantsPost() || k.kind == kindJprobe {
		unjump([]*site{s})
	}
	unjumpAround(addr)
	s.add(k)
	if first { // with its list: a CPU may still take an INT3 that was here before
		insert(s)
		neighboured(s.addr)
	}
	return nil
}

// touchesSSE reports whether a handler of k may change X0-X14. A jprobe saves
// them anyway.
func (k *Kprobe) touchesSSE() bool {
	if k.kind == kindKretprobe {
		rp := asKretprobe(k)
		rp.sse = writesSSE(rp.Handler)
		rp.direct = nil
		if !rp.sse {
			rp.direct = rp.Handler
		}
		return writesSSE(rp.EntryHandler)
	}
	return writesSSE(k.PreHandler) || writesSSE(k.PostHandler)
}

// fits checks what k's kind and handlers ask of the site.
//
// Errors: EILSEQ a post-handler, but the instruction cannot be stepped; EINVAL
// not an entry, or a function that switches stacks; EBUSY there is a jprobe
// already.
func (k *Kprobe) fits(s *site, fn symbol) error {
	if k.PostHandler != nil && s.slot != 0 && !s.step {
		return refuse(syscall.EILSEQ, "the instruction cannot be single-stepped, which a post-handler needs")
	}
	if k.kind == kindKprobe {
		return nil
	}
	if s.addr != uintptr(fn.Addr) {
		return refuse(syscall.EINVAL, "%s is not the entry of a function", k.kind.noun())
	}
	if why := noReturnProbe(fn); k.kind == kindKretprobe && why != "" {
		return refuse(syscall.EINVAL, "%s %s", fn.Name, why)
	}
	for _, other := range s.probes() {
		if k.kind == kindJprobe && other.kind == kindJprobe {
			return refuse(syscall.EBUSY, "%s has a jprobe already", fn.Name)
		}
	}
	return nil
}

// UnregisterKprobe removes k. When it returns no CPU is in a handler of k's,
// and the text is as it was if no other probe is there. A probe that is not
// registered only has its Addr cleared. A handler that calls this is abandoned.
//
// Context: goroutine, not a handler.
// Source: spec/4 §4.4.
func UnregisterKprobe(k *Kprobe) {
	cpu.Forbid("unregisters a probe")
	UnregisterKprobes([]*Kprobe{k})
}

// UnregisterKprobes is UnregisterKprobe for each of ks at once: it waits for the
// other CPUs a single time.
//
// Context: goroutine, not a handler.
// Source: spec/4 §4.6.
func UnregisterKprobes(ks []*Kprobe) {
	cpu.Forbid("unregisters probes")
	mu.Lock()
	defer mu.Unlock()
	detach(ks)
}

// detach is the part of unregistering that needs mu.
func detach(ks []*Kprobe) {
	var gone []*Kprobe
	for _, k := range ks {
		if !k.has(flagRegistered) {
			k.Addr = 0
			continue
		}
		k.clear(flagRegistered)
		k.site.remove(k)
		gone = append(gone, k)
	}
	if len(gone) == 0 {
		return
	}
	all := sitesOf(gone)
	if !rearm(all) {
		outside()
	}
	var empty []*site
	for _, s := range all {
		if len(s.probes()) == 0 {
			empty = append(empty, s)
		}
	}
	drop(empty...)
	when := now()
	for _, s := range empty {
		neighboured(s.addr)
		retire(s, when)
	}
	for _, k := range gone {
		k.site = nil
		if k.SymbolName != "" {
			k.Addr = 0
		}
	}
	kick()
}

// DisableKprobe stops k's handlers from being called until EnableKprobe.
//
// Context: goroutine.
// Errors: EINVAL k is not registered; EDEADLK called in a handler.
// Source: spec/4 §4.7.
func DisableKprobe(k *Kprobe) error {
	if err := inHandler(); err != nil {
		return err
	}
	return k.toggle("disable", k.set)
}

// EnableKprobe undoes DisableKprobe.
//
// Context: goroutine.
// Errors: EINVAL k is not registered, or its handler was abandoned; EDEADLK called
// in a handler.
// Source: spec/4 §4.8.
func EnableKprobe(k *Kprobe) error {
	if err := inHandler(); err != nil {
		return err
	}
	return k.toggle("enable", k.clear)
}

func (k *Kprobe) toggle(what string, change func(uint32)) error {
	mu.Lock()
	defer mu.Unlock()
	if !k.has(flagRegistered) {
		return refuse(syscall.EINVAL, "kprobes: %s %s: it is not registered", what, k.name())
	}
	if what == "enable" && k.has(flagGone) {
		return refuse(syscall.EINVAL, "kprobes: enable %s: its handler broke the rules, or its module is gone", k.name())
	}
	change(FlagDisabled)
	k.site.set(k.site.probes())
	if !rearm([]*site{k.site}) && what == "disable" {
		outside()
	}
	kick()
	return nil
}

// SetEnabled arms or disarms everything, without touching what each probe is.
//
// Context: goroutine.
// Source: spec/4 appendix A, "enabled".
func SetEnabled(on bool) {
	cpu.Forbid("arms or disarms all probes")
	mu.Lock()
	defer mu.Unlock()
	disarmedAll = !on
	rearm(allSites())
	kick()
}

// Enabled returns what SetEnabled set; at first true.
func Enabled() bool {
	mu.Lock()
	defer mu.Unlock()
	return !disarmedAll
}
