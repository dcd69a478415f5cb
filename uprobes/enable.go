package uprobes

import (
	"slices"
	"syscall"

	"sonde/kernel/grace"
	"sonde/kernel/refusal"
)

// DisableUprobe stops u's handler from being called until EnableUprobe. A handler that has
// started may still be running. The breakpoint is removed unless another probe needs it.
//
// Context: goroutine, including handlers of user probes, even u's own.
// Errors: EINVAL u is not registered; EDEADLK called in a handler in trap context.
func DisableUprobe(u *Uprobe) error { return EnableUprobes([]*Uprobe{u}, false) }

// EnableUprobe undoes DisableUprobe.
//
// Context: as DisableUprobe.
// Errors: those of DisableUprobe; EINVAL also if the handler was abandoned; if the
// breakpoint cannot be put in again, those of RegisterUprobe, and u stays disabled.
func EnableUprobe(u *Uprobe) error { return EnableUprobes([]*Uprobe{u}, true) }

// DisableUretprobe is DisableUprobe for a return probe. Calls entered before still call the
// handler.
//
// Context: as DisableUprobe.
// Errors: those of DisableUprobe.
func DisableUretprobe(rp *Uretprobe) error { return DisableUprobe(rp.entry()) }

// EnableUretprobe undoes DisableUretprobe.
//
// Context: as DisableUprobe.
// Errors: those of EnableUprobe.
func EnableUretprobe(rp *Uretprobe) error { return EnableUprobe(rp.entry()) }

// EnableUprobes enables or disables several probes (for return probes, give their U); after an
// error, none is changed.
//
// Context: as DisableUprobe.
// Errors: those of EnableUprobe.
func EnableUprobes(us []*Uprobe, on bool) error {
	if mach.InTrap() {
		return errTrap
	}
	mu.Lock()
	defer mu.Unlock()
	return allOrNone(us, on, (*Uprobe).off, (*Uprobe).enable)
}

// Refit says that it may have changed which probes may have their handlers in their breakpoints' code; nil: all. When it
// returns, no CPU is in code that may not run any more.
//
// Context: goroutine, not a handler.
func Refit(us []*Uprobe) {
	mu.Lock()
	defer mu.Unlock()
	left := false
	for _, tk := range tasks {
		for _, m := range tk.members {
			if us == nil || slices.Contains(us, m.u) {
				m.point.publish()
				left = left || m.stub != nil && m.stub.Code != 0 && !m.point.fused() // also if that was before
			}
		}
	}
	if left {
		grace.Change{Each: []func(){func() {}}}.Complete()
	}
}

// allOrNone enables or disables all, or on an error changes none; off says which are disabled. mu held.
func allOrNone[P any](all []P, on bool, off func(P) bool, enable func(P, bool) error) error {
	var changed []P
	for _, p := range all {
		if off(p) == on {
			changed = append(changed, p)
		}
		if err := enable(p, on); err != nil {
			for _, p := range changed {
				enable(p, !on)
			}
			return err
		}
	}
	return nil
}

// off reports whether u is registered and disabled. mu held.
func (u *Uprobe) off() bool {
	if u == nil {
		return false
	}
	if f := u.file.Load(); f != nil && slices.Contains(files, f) {
		return f.disabled
	}
	m := u.state.Load()
	return m != nil && m.off()
}

func (m *member) off() bool { return m.flags.Has(disabled) }

// enable enables or disables u. mu held.
func (u *Uprobe) enable(on bool) error {
	if u == nil {
		return errNil
	}
	if f := u.file.Load(); f != nil && slices.Contains(files, f) {
		f.disabled = !on
		for _, m := range f.members() {
			if err := m.enable(on); err != nil {
				m.lost(err)
			}
		}
		return nil
	}
	m := u.state.Load()
	switch {
	case m == nil || m.flags.Has(unregistered):
		return refusal.New(syscall.EINVAL, "the probe is not registered")
	case on && m.flags.Has(abandoned):
		return refusal.New(syscall.EINVAL, "the probe's handler was abandoned")
	}
	return allOrNone(m.all(), on, (*member).off, (*member).enable)
}

// enable enables or disables m. mu held.
func (m *member) enable(on bool) error {
	x := tasks[m.process].text
	defer m.point.publish()
	switch {
	case m.ends() && (!on || allOff):
		return nil
	case !on:
		m.flags.Set(disabled)
		x.disarmUnwanted(m.point)
		return nil
	}
	if !allOff {
		if err := x.arm(m.point); err != nil {
			return err
		}
	}
	m.flags.Clear(disabled)
	return nil
}
