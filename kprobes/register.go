package kprobes

import (
	"syscall"

	"sonde/kernel/probe"
	"sonde/kprobes/machine"
)

// RegisterKprobe sets k on its instruction and arms it.
//
// Errors: EINVAL k is nil, both or neither of SymbolName and Addr given, Flags has
// more than FlagDisabled, the address is not in kernel text, or the code there may
// not be probed; ENOENT no such symbol; EILSEQ not the first byte of an instruction,
// or one that cannot be executed elsewhere; EEXIST k is registered; ENOMEM no slot or
// memory left; EDEADLK called in a handler. Nothing has changed then.
// Source: kprobes.txt §4.1.
func RegisterKprobe(k *Kprobe) error {
	if err := inHandler(); err != nil {
		return err
	}
	return RegisterKprobes([]*Kprobe{k})
}

// RegisterKprobes registers each of ks, or none: if one is refused, those before
// it are unregistered again.
//
// Errors: as RegisterKprobe, for the first that is refused.
// Source: kprobes.txt §4.5.
func RegisterKprobes(ks []*Kprobe) error {
	if err := inHandler(); err != nil {
		return err
	}
	return register(kindKprobe, ks)
}

// RegisterKretprobe establishes rp.
//
// Errors: as RegisterKprobe; EINVAL also for what is not the entry of a function
// or does not return to its caller; ERANGE MaxActive or DataSize is absurd; ENOMEM
// there is no memory for so many instances; EBUSY it was registered before, and
// calls from then have not returned.
// Source: kprobes.txt §4.3.
func RegisterKretprobe(rp *Kretprobe) error {
	if err := inHandler(); err != nil {
		return err
	}
	return RegisterKretprobes([]*Kretprobe{rp})
}

// RegisterKretprobes registers each of rps, or none.
//
// Errors: as RegisterKretprobe, for the first that is refused.
// Source: kprobes.txt §4.5.
func RegisterKretprobes(rps []*Kretprobe) error {
	if err := inHandler(); err != nil {
		return err
	}
	return register(kindKretprobe, entries(rps))
}

// RegisterJprobe sets j on its function.
//
// Errors: as RegisterKprobe; EINVAL also when Entry is no function; EBUSY the
// function has a jprobe already; E2BIG its arguments and results need too much stack.
// Source: kprobes.txt §4.2.
func RegisterJprobe(j *Jprobe) error {
	if err := inHandler(); err != nil {
		return err
	}
	return RegisterJprobes([]*Jprobe{j})
}

// RegisterJprobes registers each of js, or none.
//
// Errors: as RegisterJprobe, for the first that is refused.
// Source: kprobes.txt §4.5.
func RegisterJprobes(js []*Jprobe) error {
	if err := inHandler(); err != nil {
		return err
	}
	return register(kindJprobe, entriesOf(js))
}

// UnregisterKprobe removes k. When it returns no CPU is in a handler of k's,
// and the text is as it was if no other probe is there. A probe that is not
// registered only has its Addr cleared. A handler that calls this is abandoned.
//
// Context: goroutine, not a handler.
// Source: kprobes.txt §4.4.
func UnregisterKprobe(k *Kprobe) {
	machine.This.Forbid("unregisters a probe")
	UnregisterKprobes([]*Kprobe{k})
}

// UnregisterKprobes is UnregisterKprobe for each of ks at once: it waits for the
// other CPUs a single time.
//
// Context: goroutine, not a handler.
// Source: kprobes.txt §4.6.
func UnregisterKprobes(ks []*Kprobe) {
	machine.This.Forbid("unregisters probes")
	unregister(ks)
}

// UnregisterKretprobe removes rp. Calls that are in flight return as if there
// had been no probe: when it returns no handler of rp's is called any more.
//
// Context: goroutine, not a handler.
// Source: kprobes.txt §4.4.
func UnregisterKretprobe(rp *Kretprobe) {
	machine.This.Forbid("unregisters a return probe")
	UnregisterKretprobes([]*Kretprobe{rp})
}

// UnregisterKretprobes is UnregisterKretprobe for each of rps at once.
//
// Context: goroutine, not a handler.
// Source: kprobes.txt §4.6.
func UnregisterKretprobes(rps []*Kretprobe) {
	machine.This.Forbid("unregisters return probes")
	UnregisterKprobes(entries(rps))
}

// UnregisterJprobe removes j.
//
// Context: goroutine, not a handler.
// Source: kprobes.txt §4.4.
func UnregisterJprobe(j *Jprobe) {
	machine.This.Forbid("unregisters a jprobe")
	UnregisterJprobes([]*Jprobe{j})
}

// UnregisterJprobes is UnregisterJprobe for each of js at once.
//
// Context: goroutine, not a handler.
// Source: kprobes.txt §4.6.
func UnregisterJprobes(js []*Jprobe) {
	machine.This.Forbid("unregisters jprobes")
	UnregisterKprobes(entriesOf(js))
}

// DisableKprobe stops k's handlers from being called until EnableKprobe.
//
// Errors: EINVAL k is not registered; EDEADLK called in a handler.
// Source: kprobes.txt §4.7.
func DisableKprobe(k *Kprobe) error {
	if err := inHandler(); err != nil {
		return err
	}
	return k.toggle("disable", false)
}

// EnableKprobe undoes DisableKprobe.
//
// Errors: EINVAL k is not registered, or its handler was abandoned; EDEADLK called
// in a handler.
// Source: kprobes.txt §4.8.
func EnableKprobe(k *Kprobe) error {
	if err := inHandler(); err != nil {
		return err
	}
	return k.toggle("enable", true)
}

// DisableKretprobe is DisableKprobe for a return probe. A call that was entered
// before, and that the entry handler has not declined, still has its return handler
// called.
//
// Errors: as DisableKprobe.
// Source: kprobes.txt §4.7, §1.3.2.
func DisableKretprobe(rp *Kretprobe) error { return DisableKprobe(rp.entry()) }

// EnableKretprobe undoes DisableKretprobe.
//
// Errors: as EnableKprobe.
// Source: kprobes.txt §4.8.
func EnableKretprobe(rp *Kretprobe) error { return EnableKprobe(rp.entry()) }

// DisableJprobe is DisableKprobe for a jprobe.
//
// Errors: as DisableKprobe.
// Source: kprobes.txt §4.7.
func DisableJprobe(j *Jprobe) error { return DisableKprobe(j.entry()) }

// EnableJprobe undoes DisableJprobe.
//
// Errors: as EnableKprobe.
// Source: kprobes.txt §4.8.
func EnableJprobe(j *Jprobe) error { return EnableKprobe(j.entry()) }

// entries are the probes on the entries of return probes, entriesOf of jprobes.
func entries(rps []*Kretprobe) []*Kprobe {
	ks := make([]*Kprobe, len(rps))
	for i, rp := range rps {
		ks[i] = rp.entry()
	}
	return ks
}

func entriesOf(js []*Jprobe) []*Kprobe {
	ks := make([]*Kprobe, len(js))
	for i, j := range js {
		ks[i] = j.entry()
	}
	return ks
}

// errHandler is made beforehand: a handler may not allocate.
var errHandler = probe.Refuse(syscall.EDEADLK, "kprobes: a handler may not register, enable or disable probes")

// inHandler refuses what would wait for mu, and for all handlers to end, when it is
// called in one. It comes before anything is changed.
//
// Context: any.
// Errors: EDEADLK in trap context.
func inHandler() error {
	if machine.This.InHandler() {
		return errHandler
	}
	return nil
}
