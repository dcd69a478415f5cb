package uprobes

import (
	"cmp"
	"slices"

	"sonde/kernel/probe"
)

// Info describes a registered probe.
type Info struct {
	Pid      int
	Vaddr    uint64
	Program  string // the name of the process
	Kind     string // "u", "ur"
	Way      string // how the instruction gets done
	Disabled bool   // its handler panicked
	Ledger   probe.Ledger
}

// All returns the registered probes, by process and address, in order of
// registration.
//
// Context: goroutine.
func All() (all []Info) {
	mu.Lock()
	defer mu.Unlock()
	for p, tk := range tasks {
		for _, m := range tk.members {
			i := m.info()
			i.Program = p.Name()
			all = append(all, i)
		}
	}
	slices.SortStableFunc(all, func(a, b Info) int {
		return cmp.Or(cmp.Compare(a.Pid, b.Pid), cmp.Compare(a.Vaddr, b.Vaddr))
	})
	return all
}

func (m *member) info() Info {
	kind := "u"
	if m.ret != nil {
		kind = "ur"
	}
	return Info{Pid: m.pid, Vaddr: m.vaddr, Kind: kind, Way: m.point.plan.Way.String(), Disabled: m.flags.Has(disabled), Ledger: m.ledger()}
}

// Ledger accounts for the hits of u since it was registered last, also after it has been
// unregistered.
//
// Context: any.
func (u *Uprobe) Ledger() probe.Ledger {
	if m := u.state.Load(); m != nil {
		return m.ledger()
	}
	return probe.Ledger{}
}
