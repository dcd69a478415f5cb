package uprobes

import (
	"errors"
	"slices"
	"syscall"

	"sonde/kernel/printk"
	"sonde/linux/space"
	"sonde/probe/ledger"
)

// allOff is set by SetEnabled(false): there are no breakpoints, whatever the probes want.
// Guarded by mu.
var allOff bool

// SetEnabled inserts or removes the breakpoints of all user probes without changing the
// probes' own state.
//
// Context: goroutine, including handlers of user probes.
func SetEnabled(on bool) {
	mu.Lock()
	defer mu.Unlock()
	allOff = !on
	texts.Range(func(_, x any) bool {
		x.(*text).rearm()
		return true
	})
}

// Enabled returns what SetEnabled has set; it is true at boot.
func Enabled() bool {
	mu.Lock()
	defer mu.Unlock()
	return !allOff
}

// rearm inserts and removes the breakpoints of x as its probes want, in the order of list. mu held.
func (x *text) rearm() {
	for _, ends := range []bool{true, false} {
		x.known.Range(func(_, v any) bool {
			switch pt := v.(*point); {
			case slices.ContainsFunc(pt.members.All(), (*member).ends) != ends:
			case pt.wanted():
				if err := x.arm(pt); err != nil {
					for _, m := range pt.members.All() {
						m.lost(err)
					}
				}
			default:
				x.disarmUnwanted(pt)
			}
			return true
		})
	}
}

// wanted reports whether some probe at pt is enabled. mu held.
func (pt *point) wanted() bool {
	return !allOff && slices.ContainsFunc(pt.members.All(), func(m *member) bool { return !m.flags.Has(disabled) })
}

// arm inserts the breakpoint of pt, unless it is there. mu held.
//
// Errors: those of space.Break.
func (x *text) arm(pt *point) error {
	if pt.armed {
		return nil
	}
	err := x.mem.Break(uint64(pt.addr))
	pt.armed = err == nil
	return err
}

// disarmUnwanted removes the breakpoint of pt if no probe wants it. mu held.
func (x *text) disarmUnwanted(pt *point) {
	if pt.armed && !pt.wanted() {
		x.mem.Unbreak(uint64(pt.addr))
		pt.armed = false
	}
}

// lost says that m's breakpoint cannot be put in again. mu held.
func (m *member) lost(err error) { tasks[m.process].lose(m.Counter, m.vaddr, err) }

// manyUnset is how many places of a probe a task remembers: those that it has forgotten count again when they are
// tried again.
const manyUnset = 1 << 10

// lose counts, once, that a probe is not set at an address, unless the program has gone from there. The log has the
// first one of a process, if it is the first of its probe. mu held.
func (tk *task) lose(c *ledger.Counter, addr uint64, err error) {
	known := tk.unset[c]
	if errors.Is(err, syscall.ESRCH) || errors.Is(err, space.ErrNotMapped) || slices.Contains(known, addr) {
		return
	}
	if len(tk.unset) == 0 && c.Ledger().Unset == 0 {
		printk.Warn("uprobes: there is no probe at %s (%#x) of process %d, %s, though there should be: %s. More like this are counted in /sys/kernel/debug/uprobes/stats.",
			where(tk.text.mem.Space, addr), addr, tk.process.PID, tk.process.Name(), err.Error())
	}
	if tk.unset == nil {
		tk.unset = map[*ledger.Counter][]uint64{}
	}
	if len(known) == manyUnset {
		known = known[:0]
	}
	tk.unset[c] = append(known, addr)
	c.Unset(err)
}

// members returns the members of f in all processes. mu held.
func (f *file) members() (all []*member) {
	for _, tk := range tasks {
		for _, m := range tk.members {
			if m.file == f {
				all = append(all, m)
			}
		}
	}
	return all
}
