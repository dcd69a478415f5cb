package uprobes

import (
	"cmp"
	"fmt"
	"sort"
	"strings"

	"sonde/arch/amd64"
	"sonde/linux/proc"
	"sonde/probe/attach"
	"sonde/probe/ledger"
)

// What others see of the probes: their lists, and what is forgotten of a module.

// Info describes a registered probe.
type Info struct {
	Pid      int
	Vaddr    uint64
	Program  string // the process's name
	Kind     string // "u", "ur"
	Place    string // file and offset in it
	Way      string // how the instruction is executed, and whether hits are handled in trap context
	Unfit    string // why hits call a program that could be compiled; "" if there is none
	Returns  string // for a return probe: see images.ReturnsOf
	Disabled bool   // by DisableUprobe, or its handler was abandoned
	Ledger   ledger.Ledger
}

func init() {
	attach.Show(&attach.Face{Name: "uprobes", Head: fmt.Sprintf("%6s  %-16s  %-2s", "pid", "address", "t"), Last: "place",
		Counts: ledger.Columns{"entered", "handled", "no_inst", "disarmed", "abandoned", "inflight", "unset", "unexplained"},
		Rows:   rows, Forget: forgetOwner, Enabled: Enabled, SetEnabled: SetEnabled})
}

// rows has in each line: process, address, type, the program, where the instruction is in its file, how it
// is executed, status. Of a return probe: how returns are seen, and why.
func rows() (all []attach.Row) {
	for _, p := range All() {
		key := fmt.Sprintf("%6d  %016x  %-2s", p.Pid, p.Vaddr, p.Kind)
		line := fmt.Sprintf("%s  %-15s  %s  %s", key, p.Program, p.Place, p.Way)
		if p.Disabled {
			line += " [DISABLED]"
		}
		if p.Returns != "" {
			line = strings.TrimRight(line, " ") + "  returns: " + p.Returns
		}
		if loss := p.Ledger.Loss(); loss != "" {
			line = strings.TrimRight(line, " ") + "  " + loss
		}
		all = append(all, attach.Row{Line: line, Key: key, Ledger: p.Ledger, Place: p.Place})
	}
	return all
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
	sort.SliceStable(all, func(i, j int) bool {
		a, b := &all[i], &all[j]
		return cmp.Or(cmp.Compare(a.Pid, b.Pid), cmp.Compare(a.Vaddr, b.Vaddr)) < 0
	})
	return all
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
	return Info{Pid: m.pid, Vaddr: m.vaddr, Kind: order{rp: m.ret}.kind(), Way: m.point.way(), Unfit: m.point.unfit(), Returns: m.how, Disabled: m.flags.Has(disabledFlags), Ledger: m.Ledger()}
}

// Ledger returns the counts of u's hits since it was last registered; they stay when it is
// unregistered.
//
// Context: any.
func (u *Uprobe) Ledger() ledger.Ledger {
	if f := u.file.Load(); f != nil {
		return f.counter.Ledger()
	}
	if m := u.state.Load(); m != nil {
		return m.Ledger()
	}
	return ledger.Ledger{}
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
