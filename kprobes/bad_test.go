package kprobes

import (
	"syscall"
	"testing"

	"sonde/arch/amd64/insn"
)

// TestNoProbeAtAll: a nil pointer used to end in a panic, in the middle of a batch, with
// the probes before it left on their points.
func TestNoProbeAtAll(t *testing.T) {
	f := newFake(t)
	good := at("t.work", 3)
	for what, err := range map[string]error{
		"kprobe":       RegisterKprobe(nil),
		"return probe": RegisterKretprobe(nil),
		"jprobe":       RegisterJprobe(nil),
	} {
		f.refused(f.now(), err, syscall.EINVAL, "there is no "+what)
	}
	was := f.now()
	f.refused(was, RegisterKprobes([]*Kprobe{good, nil}), syscall.EINVAL, "the pointer is nil")
	f.refused(was, RegisterKretprobes([]*Kretprobe{returns("t.work"), nil}), syscall.EINVAL, "the pointer is nil")
	for _, err := range []error{DisableKprobe(nil), EnableKretprobe(nil), DisableJprobe(nil)} {
		f.refused(was, err, syscall.EINVAL, "the pointer is nil")
	}
	f.must(good)
	UnregisterKprobes([]*Kprobe{nil, good, nil})
	UnregisterKretprobe(nil)
	UnregisterJprobe(nil)
	if f.byteAt("t.work", 3) == insn.OpInt3 || Slots().Used() != 0 {
		t.Error("a nil pointer keeps others from being unregistered")
	}
}

// TestCopyOfAProbe: a copy is not the probe. To unregister one after the other used to
// give back a slot twice, and to enable one that was given the flag of a registered
// probe ended in a panic.
func TestCopyOfAProbe(t *testing.T) {
	f := newFake(t)
	k := at("t.work", 3)
	f.must(k)
	twin := *k
	was := f.now()
	f.refused(was, RegisterKprobe(&twin), syscall.EINVAL, "copy of a registered one")
	f.refused(was, DisableKprobe(&twin), syscall.EINVAL, "it is not registered")
	UnregisterKprobe(&twin)
	f.refused(was, RegisterKprobe(k), syscall.EEXIST, "it is registered already")
	if f.byteAt("t.work", 3) != insn.OpInt3 {
		t.Fatal("unregistering the copy disarmed the probe")
	}
	stale := *k
	UnregisterKprobe(k)
	again := at("t.work", 3)
	f.must(again)
	UnregisterKprobe(&stale)
	if f.byteAt("t.work", 3) != insn.OpInt3 || Slots().Used() != 1 || f.pointAt("t.work", 3) == nil {
		t.Error("the copy of a probe that is gone took another one away")
	}
	forged := at("t.work", 7)
	forged.Flags = flagRegistered
	f.refused(f.now(), RegisterKprobe(forged), syscall.EINVAL, "only FlagDisabled")
	f.refused(f.now(), EnableKprobe(forged), syscall.EINVAL, "it is not registered")
	UnregisterKprobe(forged)
}
