package uprobes

import (
	"cmp"
	"fmt"
	"slices"

	"sonde/arch/amd64"
	"sonde/kernel/probe"
	"sonde/linux/proc"
	"sonde/linux/space"
)

// Info describes a registered probe.
type Info struct {
	Pid      int
	Vaddr    uint64
	Program  string // the process's name
	Kind     string // "u", "ur"
	Place    string // file and offset in it
	Way      string // how the instruction is executed, and whether hits are handled in trap context
	Returns  string // for a return probe: see images.ReturnsOf
	Disabled bool   // by DisableUprobe, or its handler was abandoned
	Ledger   probe.Ledger
}

// All returns the registered probes, by process, by address, and in order of registration.
func All() (all []Info) {
	mu.Lock()
	defer mu.Unlock()
	for p, tk := range tasks {
		for _, m := range tk.members {
			if m.file != nil || m.u.state.Load() != m && m.user == nil {
				continue // listed with its file, or with the first of its probe
			}
			i := m.info()
			i.Program, i.Place = p.Name(), where(tk.text.mem.Space, m.vaddr)
			all = append(all, i)
		}
	}
	for _, f := range files {
		all = append(all, f.info())
	}
	slices.SortStableFunc(all, func(a, b Info) int {
		return cmp.Or(cmp.Compare(a.Pid, b.Pid), cmp.Compare(a.Vaddr, b.Vaddr))
	})
	return all
}

// where returns what is mapped at an address: PATH:0xOFFSET.
func where(s *space.Space, addr uint64) string {
	a, ok := s.At(addr)
	if !ok {
		return "?"
	}
	return fmt.Sprintf("%s:%#x", cmp.Or(a.Ident.Name, "[anonymous]"), a.Offset+addr-a.Start)
}

func (o order) kind() string {
	if o.rp != nil {
		return "ur"
	}
	return "u"
}

func (f *file) info() Info {
	way := ""
	if f.o.u.TrapSafe {
		way = "handled" + InTheTrap
	}
	return Info{Pid: f.o.u.Pid, Way: way, Program: cmp.Or(f.o.u.Comm, "*"), Place: fmt.Sprintf("%s:%#x", f.ident.Name, f.off), Kind: f.o.kind(), Returns: f.returns, Disabled: f.disabled, Ledger: f.counter.Ledger()}
}

func (m *member) info() Info {
	return Info{Pid: m.pid, Vaddr: m.vaddr, Kind: order{rp: m.ret}.kind(), Way: m.point.way(), Returns: m.how, Disabled: m.flags.Has(disabledFlags), Ledger: m.Ledger()}
}

// way says how hits of pt are handled: "boosted", "boosted in the trap".
func (pt *point) way() string {
	if pt.trap.Load() != nil {
		return pt.plan.Way.String() + InTheTrap
	}
	return pt.plan.Way.String()
}

// InTheTrap ends the Way of an Info if hits do not lead to their threads' goroutines.
const InTheTrap = " in the trap"

// Ledger returns the counts of u's hits since it was last registered; they stay when it is
// unregistered.
//
// Context: any.
func (u *Uprobe) Ledger() probe.Ledger {
	if f := u.file.Load(); f != nil {
		return f.counter.Ledger()
	}
	if m := u.state.Load(); m != nil {
		return m.Ledger()
	}
	return probe.Ledger{}
}

// Way says how u's hits are executed, "by process" for a probe on a file; and whether its handler is
// not called.
func (u *Uprobe) Way() (way string, disabled bool) {
	mu.Lock()
	defer mu.Unlock()
	if f := u.file.Load(); f != nil {
		return "by process", f.disabled
	}
	if m := u.state.Load(); m != nil {
		return m.point.way(), m.flags.Has(disabledFlags)
	}
	return "off", true
}

// RegsReturnValue returns the result of the function that has just returned.
//
// Context: any.
// Source:  System V ABI, AMD64 supplement, "Returning of Values"; Go's ABIInternal.
func RegsReturnValue(r *amd64.Regs) uint64 { return r.AX }

// SlotOf returns the address of the slot of the probe at addr, or 0.
func SlotOf(p *proc.Process, addr uint64) uint64 {
	mu.Lock()
	defer mu.Unlock()
	if tk := tasks[p]; tk != nil {
		if pt := tk.text.points.Find(uintptr(addr)); pt != nil {
			return pt.slot
		}
	}
	return 0
}
