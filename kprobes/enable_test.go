package kprobes

import (
	"errors"
	"syscall"
	"testing"

	"sonde/arch/amd64/insn"
)

// TestDisable: the breakpoint is there while some probe wants it, and when disabling
// returns no CPU is in the handler.
func TestDisable(t *testing.T) {
	f := newFake(t)
	a, b := at("t.work", 3), at("t.work", 3)
	f.must(a, b)
	for _, c := range []struct {
		name  string
		do    func(*Kprobe) error
		k     *Kprobe
		armed bool
		did   []string
	}{
		{"disable one of two", DisableKprobe, a, true, []string{"quiesce"}},
		{"disable the other", DisableKprobe, b, false, []string{"disarm t.work+0x3", "sync 1", "quiesce"}},
		{"disable it again", DisableKprobe, b, false, []string{"quiesce"}},
		{"enable one", EnableKprobe, a, true, []string{"arm t.work+0x3", "sync 1", "quiesce"}},
		{"enable it again", EnableKprobe, a, true, nil},
		{"enable the other", EnableKprobe, b, true, nil},
	} {
		n := len(f.log)
		if err := c.do(c.k); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if f.did(n, c.did...); (f.byteAt("t.work", 3) == insn.OpInt3) != c.armed {
			t.Errorf("%s: armed is not %v", c.name, c.armed)
		}
	}
	UnregisterKprobes([]*Kprobe{a, b})
	f.refused(f.now(), EnableKprobe(a), syscall.EINVAL, "enable t.work+0x3: it is not registered")
	f.refused(f.now(), DisableKprobe(a), syscall.EINVAL, "disable t.work+0x3: it is not registered")
}

// TestRegisteredDisabled: such a probe has its point, and no breakpoint until it is
// enabled. One that is gone is not enabled again.
func TestRegisteredDisabled(t *testing.T) {
	f := newFake(t)
	k := at("t.work", 3)
	k.Flags.Set(FlagDisabled)
	f.must(k)
	if f.byteAt("t.work", 3) == insn.OpInt3 || f.pointAt("t.work", 3).armed {
		t.Error("armed")
	}
	if err := EnableKprobe(k); err != nil || f.byteAt("t.work", 3) != insn.OpInt3 {
		t.Error("not armed", err)
	}
	if err := DisableKprobe(k); err != nil {
		t.Error(err)
	}
	k.Flags.Set(flagGone)
	f.refused(f.now(), EnableKprobe(k), syscall.EINVAL, "its handler was abandoned")
}

// TestSetEnabled: off, nothing is armed, whatever is registered or enabled
// meanwhile; on, what its probes want.
func TestSetEnabled(t *testing.T) {
	f := newFake(t)
	a, off := at("t.work", 0), at("t.work", 3)
	off.Flags.Set(FlagDisabled)
	f.must(a, off)
	SetEnabled(false)
	b := at("t.work", 7)
	f.must(b)
	if err := EnableKprobe(off); err != nil {
		t.Error(err)
	}
	for _, k := range []*Kprobe{a, b, off} {
		if f.byteAt("t.work", k.Offset) == insn.OpInt3 || Enabled() {
			t.Errorf("%s is armed, or enabled: %v", k.name(), Enabled())
		}
	}
	if err := DisableKprobe(b); err != nil {
		t.Error(err)
	}
	SetEnabled(true)
	for _, k := range []*Kprobe{a, b, off} {
		if (f.byteAt("t.work", k.Offset) == insn.OpInt3) == (k == b) || !Enabled() {
			t.Errorf("%s: %#x, enabled: %v", k.name(), f.byteAt("t.work", k.Offset), Enabled())
		}
	}
}

// TestInsideAHandler: what would wait for mu there is refused, or does not return,
// before it takes mu (the fake looks).
func TestInsideAHandler(t *testing.T) {
	f := newFake(t)
	k, rp, j := at("t.work", 0), returns("t.small"), jumps("t.medium")
	f.must(k)
	f.mustReturn(rp)
	f.mustJprobe(j)
	f.inTrap = true
	for i, err := range []error{
		RegisterKprobe(at("t.work", 3)), RegisterKprobes(nil), RegisterKretprobe(returns("t.work")), RegisterKretprobes(nil),
		RegisterJprobe(jumps("t.work")), RegisterJprobes(nil), DisableKprobe(k), EnableKprobe(k),
		DisableKretprobe(rp), EnableKretprobe(rp), DisableJprobe(j), EnableJprobe(j),
	} {
		if !errors.Is(err, syscall.EDEADLK) {
			t.Errorf("call %d: %v", i, err)
		}
	}
	for i, call := range []func(){
		func() { UnregisterKprobe(k) }, func() { UnregisterKprobes(nil) },
		func() { UnregisterKretprobe(rp) }, func() { UnregisterKretprobes(nil) },
		func() { UnregisterJprobe(j) }, func() { UnregisterJprobes(nil) },
		func() { SetEnabled(false) }, func() { SetJumps(false) },
	} {
		if !forbids(call) {
			t.Errorf("call %d is allowed", i)
		}
	}
	f.inTrap = false
}

// forbids reports whether call ends in machine.forbid.
func forbids(call func()) (yes bool) {
	defer func() { _, yes = recover().(forbidden) }()
	call()
	return false
}
