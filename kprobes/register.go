package kprobes

import (
	"syscall"

	"sonde/kernel/refusal"
	"sonde/kprobes/machine"
)

// RegisterKprobe inserts k at its instruction and arms it.
//
// Errors: EINVAL k is nil, SymbolName and Addr are both given or both missing, Flags has
// more than FlagDisabled, the address is not in kernel text, or the code there must not be
// probed; ENOENT there is no such symbol; EILSEQ the address is not the first byte of an
// instruction, or of one that cannot be executed elsewhere; EEXIST k is registered; ENOMEM
// no slot or memory left; EDEADLK called in a handler. After an error nothing has changed.
// Source: kprobes.txt §4.1.
func RegisterKprobe(k *Kprobe) error { return registerOne(kindKprobe, k) }

// RegisterKprobes registers all of ks, or none: if one is refused, those before it are
// unregistered again.
//
// Errors: those of RegisterKprobe, for the first probe that is refused.
// Source: kprobes.txt §4.5.
func RegisterKprobes(ks []*Kprobe) error { return registerAll(kindKprobe, ks) }

// RegisterKretprobe registers a return probe.
//
// Errors: those of RegisterKprobe; EINVAL also if the address is not the entry of a
// function, or the function does not return to its caller; ERANGE MaxActive or DataSize is
// too large; ENOMEM no memory for so many instances; EBUSY it was registered before, and
// calls from then have not returned.
// Source: kprobes.txt §4.3.
func RegisterKretprobe(rp *Kretprobe) error { return registerOne(kindKretprobe, rp) }

// RegisterKretprobes registers all of rps, or none.
//
// Errors: those of RegisterKretprobe, for the first probe that is refused.
// Source: kprobes.txt §4.5.
func RegisterKretprobes(rps []*Kretprobe) error { return registerAll(kindKretprobe, rps) }

// RegisterJprobe registers a jprobe on its function.
//
// Errors: those of RegisterKprobe; EINVAL also if Entry is not a function; EBUSY the
// function has a jprobe already; E2BIG the arguments and results need too much stack.
// Source: kprobes.txt §4.2.
func RegisterJprobe(j *Jprobe) error { return registerOne(kindJprobe, j) }

// RegisterJprobes registers all of js, or none.
//
// Errors: those of RegisterJprobe, for the first probe that is refused.
// Source: kprobes.txt §4.5.
func RegisterJprobes(js []*Jprobe) error { return registerAll(kindJprobe, js) }

// UnregisterKprobe removes k. When it returns, no CPU is in a handler of k, and the code is
// as before if no other probe is there. If k is not registered, it only clears k.Addr. A
// handler that calls it is abandoned.
//
// Context: goroutine, not a handler.
// Source: kprobes.txt §4.4.
func UnregisterKprobe(k *Kprobe) { unregisterOne(k) }

// UnregisterKprobes is UnregisterKprobe for all of ks: it waits for the other CPUs only
// once.
//
// Context: goroutine, not a handler.
// Source: kprobes.txt §4.6.
func UnregisterKprobes(ks []*Kprobe) { unregisterAll(ks) }

// UnregisterKretprobe removes rp. When it returns, no handler of rp is running or will be
// called; calls that have not returned do so as if there had been no probe.
//
// Context: goroutine, not a handler.
// Source: kprobes.txt §4.4.
func UnregisterKretprobe(rp *Kretprobe) { unregisterOne(rp) }

// UnregisterKretprobes is UnregisterKretprobe for all of rps.
//
// Context: goroutine, not a handler.
// Source: kprobes.txt §4.6.
func UnregisterKretprobes(rps []*Kretprobe) { unregisterAll(rps) }

// UnregisterJprobe removes j.
//
// Context: goroutine, not a handler.
// Source: kprobes.txt §4.4.
func UnregisterJprobe(j *Jprobe) { unregisterOne(j) }

// UnregisterJprobes is UnregisterJprobe for all of js.
//
// Context: goroutine, not a handler.
// Source: kprobes.txt §4.6.
func UnregisterJprobes(js []*Jprobe) { unregisterAll(js) }

// DisableKprobe stops k's handlers from being called until EnableKprobe.
//
// Errors: EINVAL k is not registered; EDEADLK called in a handler.
// Source: kprobes.txt §4.7.
func DisableKprobe(k *Kprobe) error { return EnableKprobes([]*Kprobe{k}, false) }

// EnableKprobe undoes DisableKprobe.
//
// Errors: EINVAL k is not registered, or its handler was abandoned; EDEADLK called
// in a handler.
// Source: kprobes.txt §4.8.
func EnableKprobe(k *Kprobe) error { return EnableKprobes([]*Kprobe{k}, true) }

// EnableKprobes enables or disables all of ks, which may be the entries of return probes, or none.
//
// Errors: those of EnableKprobe, for the first probe that has one.
func EnableKprobes(ks []*Kprobe, on bool) error {
	if err := inHandler(); err != nil {
		return err
	}
	return toggle(ks, on)
}

// DisableKretprobe is DisableKprobe for a return probe. Calls entered before, unless the
// entry handler has declined them, still call the return handler.
//
// Errors: those of DisableKprobe.
// Source: kprobes.txt §4.7, §1.3.2.
func DisableKretprobe(rp *Kretprobe) error { return DisableKprobe(rp.entry()) }

// EnableKretprobe undoes DisableKretprobe.
//
// Errors: those of EnableKprobe.
// Source: kprobes.txt §4.8.
func EnableKretprobe(rp *Kretprobe) error { return EnableKprobe(rp.entry()) }

// DisableJprobe is DisableKprobe for a jprobe.
//
// Errors: those of DisableKprobe.
// Source: kprobes.txt §4.7.
func DisableJprobe(j *Jprobe) error { return DisableKprobe(j.entry()) }

// EnableJprobe undoes DisableJprobe.
//
// Errors: those of EnableKprobe.
// Source: kprobes.txt §4.8.
func EnableJprobe(j *Jprobe) error { return EnableKprobe(j.entry()) }

// A registrable is a probe, of which entry is the Kprobe.
type registrable interface {
	*Kprobe | *Kretprobe | *Jprobe | *Camera
	entry() *Kprobe
}

// entries returns the Kprobes of ps.
func entries[P registrable](ps []P) []*Kprobe {
	ks := make([]*Kprobe, len(ps))
	for i, p := range ps {
		ks[i] = p.entry()
	}
	return ks
}

// registerAll is register, but a handler that calls it gets an error, before it takes memory.
func registerAll[P registrable](kind kind, ps []P) error {
	if err := inHandler(); err != nil {
		return err
	}
	return register(kind, entries(ps))
}

// registerOne is registerAll for one probe, whose caller takes no memory either.
func registerOne[P registrable](kind kind, p P) error {
	if err := inHandler(); err != nil {
		return err
	}
	return register(kind, []*Kprobe{p.entry()})
}

// unregisterAll abandons a handler that calls it, before it takes memory.
func unregisterAll[P registrable](ps []P) {
	machine.This.Forbid("unregisters probes")
	unregister(entries(ps))
}

// unregisterOne is unregisterAll for one probe, whose caller takes no memory either.
func unregisterOne[P registrable](p P) {
	machine.This.Forbid("unregisters probes")
	unregister([]*Kprobe{p.entry()})
}

// errHandler is made in advance, because a handler must not allocate.
var errHandler = refusal.New(syscall.EDEADLK, "a handler may not register, enable or disable probes")

// inHandler refuses, in a handler, what would wait for mu or for all handlers to end. It is
// called before anything is changed.
//
// Context: any.
// Errors: EDEADLK in trap context.
func inHandler() error {
	if machine.This.InHandler() {
		return errHandler
	}
	return nil
}
