package uprobes

import (
	"errors"
	"syscall"
	"testing"

	"sonde/arch/amd64"
	"sonde/linux/proc"
	"sonde/linux/space"
	"sonde/probe/ledger"
)

// armedAt reports whether the text of p has a breakpoint at addr.
func armedAt(p *proc.Process, addr uint64) bool {
	var b [1]byte
	p.Memory().In(b[:], addr)
	return b[0] == 0xCC
}

// TestDisable: the breakpoint is there as long as some probe wants it.
func TestDisable(t *testing.T) {
	d := new(diary)
	a, b := &Uprobe{Vaddr: textAt, Handler: d.probe("a")}, &Uprobe{Vaddr: textAt, Handler: d.probe("b")}
	step := func(p *player, f func(*Uprobe) error, u *Uprobe, armed bool) {
		t.Helper()
		must(t, f(u))
		if (p.Peek(textAt, 1)[0] == 0xCC) != armed {
			t.Errorf("armed is not %v", armed)
		}
		d.add("-")
		execute(p, textAt)
	}
	play(t, func(p *proc.Process) {
		a.Pid, b.Pid = p.PID, p.PID
		must(t, register(a))
		must(t, register(b))
	}, func(p *player) {
		step(p, DisableUprobe, a, true)
		step(p, DisableUprobe, b, false)
		step(p, DisableUprobe, b, false)
		step(p, EnableUprobe, a, true)
		must(t, UnregisterUprobe(a)) // what is left is disabled
		if p.Peek(textAt, 1)[0] == 0xCC {
			t.Error("a disabled probe keeps its breakpoint")
		}
		step(p, EnableUprobe, b, true)
		must(t, DisableUprobe(b))
		step(p, RegisterUprobe, a, true)
		for _, f := range []func(*Uprobe) error{EnableUprobe, DisableUprobe} {
			must(t, UnregisterUprobe(b))
			if err := f(b); !errors.Is(err, syscall.EINVAL) {
				t.Errorf("unregistered: %v", err)
			}
		}
	})
	d.wants(t, "-", "b", "-", "-", "-", "a", "-", "b", "-", "a")
	if l := b.Ledger(); l.Unexplained() != 0 {
		t.Errorf("%+v", l)
	}
}

// TestDisableInHandler: at once, and a call that was entered still returns to its handler.
func TestDisableInHandler(t *testing.T) {
	d := new(diary)
	u := &Uprobe{Vaddr: textAt + 8}
	u.Handler = func(*Uprobe, *amd64.Regs) { d.add("hit %v", DisableUprobe(u)) }
	rp := &Uretprobe{Handler: func(*UretprobeInstance, *amd64.Regs) { d.add("returned") }}
	play(t, func(p *proc.Process) {
		rp.U.Pid, rp.U.Vaddr, u.Pid = p.PID, textAt, p.PID
		must(t, RegisterUretprobe(rp))
		must(t, RegisterUprobe(u))
	}, func(p *player) {
		enter(p, stack, textAt+1)
		must(t, DisableUretprobe(rp))
		leave(p, stack)
		execute(p, textAt+8)
		execute(p, textAt+8)
		must(t, EnableUretprobe(rp))
		enter(p, stack, textAt+1)
		leave(p, stack)
	})
	d.wants(t, "returned", "hit <nil>", "returned")
}

// TestBrokenIsNotEnabled: its handler has panicked.
func TestBrokenIsNotEnabled(t *testing.T) {
	u := &Uprobe{Vaddr: textAt, Handler: func(*Uprobe, *amd64.Regs) { panic("of a test") }}
	play(t, func(p *proc.Process) {
		u.Pid = p.PID
		must(t, register(u))
	}, func(p *player) {
		execute(p, textAt)
		must(t, DisableUprobe(u))
		if err := EnableUprobe(u); !errors.Is(err, syscall.EINVAL) {
			t.Errorf("%v", err)
		}
	})
}

// TestEnableFailsWhole: the text is gone, so the probe stays disabled.
func TestEnableFailsWhole(t *testing.T) {
	const munmap = 11
	u := &Uprobe{Vaddr: textAt, Handler: func(*Uprobe, *amd64.Regs) {}}
	play(t, func(p *proc.Process) {
		u.Pid = p.PID
		must(t, register(u))
	}, func(p *player) {
		must(t, DisableUprobe(u))
		p.Call(munmap, textAt, 4096)
		if err := EnableUprobe(u); !errors.Is(err, syscall.EFAULT) {
			t.Errorf("%v", err)
		}
		if all := All(); len(all) != 1 || !all[0].Disabled {
			t.Errorf("%+v", all)
		}
	})
}

// TestBeginsDisabled: there is no breakpoint, and no hit, until the probe is enabled.
func TestBeginsDisabled(t *testing.T) {
	d := new(diary)
	u := &Uprobe{Vaddr: textAt, Disabled: true, Handler: d.probe("u")}
	play(t, func(p *proc.Process) {
		u.Pid = p.PID
		must(t, register(u))
	}, func(p *player) {
		if all := All(); p.Peek(textAt, 1)[0] == 0xCC || len(all) != 1 || !all[0].Disabled {
			t.Errorf("%+v", all)
		}
		execute(p, textAt)
		must(t, EnableUprobe(u))
		d.add("-")
		execute(p, textAt)
	})
	d.wants(t, "-", "u")
}

// TestFileProbeBeginsDisabled: in each process.
func TestFileProbeBeginsDisabled(t *testing.T) {
	u := &Uprobe{Disabled: true}
	withFile(t, u, func(p *player, fd uint64) {
		mapLib(t, p, fd, libAt, 1, exec, 0)
		must(t, register(u))
		mapLib(t, p, fd, libAt+space.PageSize, 1, exec, 0)
		for _, at := range []uint64{libAt, libAt + space.PageSize} {
			probedAt(t, p, "disabled", at+offset, false)
		}
		must(t, EnableUprobe(u))
		for _, at := range []uint64{libAt, libAt + space.PageSize} {
			probedAt(t, p, "enabled", at+offset, true)
		}
	})
}

// TestEnableSeveralOrNone: one of them is not registered, so each of the others stays as it was.
func TestEnableSeveralOrNone(t *testing.T) {
	var us [3]*Uprobe
	for i := range us {
		us[i] = &Uprobe{Vaddr: textAt + uint64(i), Handler: func(*Uprobe, *amd64.Regs) {}}
	}
	play(t, func(p *proc.Process) {
		for _, u := range us[:2] {
			u.Pid = p.PID
			must(t, register(u))
		}
		must(t, DisableUprobe(us[1]))
		for _, on := range []bool{true, false} {
			if err := EnableUprobes(us[:], on); !errors.Is(err, syscall.EINVAL) {
				t.Errorf("%v: %v", on, err)
			}
			if !armedAt(p, textAt) || armedAt(p, textAt+1) {
				t.Errorf("%v: armed are %v and %v", on, armedAt(p, textAt), armedAt(p, textAt+1))
			}
		}
	}, func(*player) {})
}

// TestSetEnabled: off, there are no breakpoints, whatever is registered or enabled
// meanwhile; on, there are those that the probes want.
func TestSetEnabled(t *testing.T) {
	defer SetEnabled(true)
	us := make([]*Uprobe, 4) // registered before and after; disabled; enabled meanwhile
	for i := range us {
		us[i] = &Uprobe{Vaddr: textAt + uint64(i), Handler: func(*Uprobe, *amd64.Regs) {}}
	}
	play(t, func(p *proc.Process) {
		for _, u := range us {
			u.Pid = p.PID
		}
		check := func(want ...bool) {
			t.Helper()
			for i, u := range us {
				if armedAt(p, u.Vaddr) != want[i] {
					t.Errorf("probe %d: armed is not %v", i, want[i])
				}
			}
		}
		must(t, register(us[0]))
		must(t, register(us[2]))
		must(t, register(us[3]))
		must(t, DisableUprobe(us[2]))
		must(t, DisableUprobe(us[3]))
		check(true, false, false, false)
		SetEnabled(false)
		must(t, register(us[1]))
		must(t, EnableUprobe(us[3]))
		if check(false, false, false, false); Enabled() {
			t.Error("enabled")
		}
		SetEnabled(true)
		if check(true, true, false, true); !Enabled() {
			t.Error("not enabled")
		}
	}, func(*player) {})
}

// TestDisabledBesideAnother: two return probes are on a function, one of them disabled. The
// breakpoint is there for the other one.
func TestDisabledBesideAnother(t *testing.T) {
	on := &Uretprobe{Handler: func(*UretprobeInstance, *amd64.Regs) {}}
	off := &Uretprobe{Handler: func(*UretprobeInstance, *amd64.Regs) { t.Error("it is disabled") }}
	play(t, func(p *proc.Process) {
		for _, rp := range []*Uretprobe{on, off} {
			rp.U.Pid, rp.U.Vaddr = p.PID, textAt
			must(t, registerReturn(rp))
		}
		must(t, DisableUretprobe(off))
	}, func(p *player) {
		enter(p, stack, textAt+1)
		leave(p, stack)
	})
	if l := on.U.Ledger(); l != (ledger.Ledger{Entered: 1, Handled: 1}) {
		t.Errorf("the enabled one: %+v", l)
	}
	if l := off.U.Ledger(); l != (ledger.Ledger{Entered: 1, Disarmed: 1}) {
		t.Errorf("the disabled one: %+v", l)
	}
}
