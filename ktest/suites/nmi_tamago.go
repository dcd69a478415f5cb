//go:build tamago

package suites

import (
	"sonde/arch/amd64"
	"sonde/kernel/notifier"
)

// OnNMI makes every NMI call f, before anybody else and instead of what has a lower priority if f
// returns notifier.Stop, until end is called, which waits for those that have begun. CPU 0 gets one
// every irq.NMIPeriod, so that one may be under way at any time.
func OnNMI(f func(r *amd64.Regs) notifier.Action) (end func()) {
	return onNMI(1000, f)
}

// LastOnNMI is OnNMI for NMIs that no other handler takes.
func LastOnNMI(f func(r *amd64.Regs) notifier.Action) (end func()) {
	return onNMI(-1000, f)
}

func onNMI(priority int, f func(r *amd64.Regs) notifier.Action) (end func()) {
	b := &notifier.Block{Name: "test", Priority: priority, Call: func(r *amd64.Regs, _ uint64) notifier.Action { return f(r) }}
	notifier.Die[amd64.VEC_NMI].Register(b)
	return func() {
		notifier.Die[amd64.VEC_NMI].Unregister(b)
		EachCPU(func(int) {})
	}
}
