package kprobes

import (
	"bytes"
	"errors"
	"syscall"
	"testing"

	"sonde/arch/amd64/insn"
	"sonde/kernel/grace"
	"sonde/kprobes/machine"
	"sonde/probe/attach"
	"sonde/probe/ledger"
)

// TestBreakpointComesLast: a hit finds the copy and the point when INT3 is there
// (the fake looks), and every CPU executes it when registering returns.
func TestBreakpointComesLast(t *testing.T) {
	f := newFake(t)
	k := at("t.work", 3)
	f.must(k)
	n := f.did(0, "write", "watch", "arm t.work+0x3", "sync 1", "quiesce")
	if f.byteAt("t.work", 3) != insn.OpInt3 {
		t.Error("no breakpoint")
	}
	more := at("t.work", 3)
	f.must(more) // armed already: nothing to be written
	n = f.did(n, "watch")
	UnregisterKprobe(k)
	n = f.did(n, "quiesce")
	if f.byteAt("t.work", 3) != insn.OpInt3 {
		t.Error("the breakpoint is gone, but not the last probe")
	}
	UnregisterKprobe(more)
	f.did(n, "disarm t.work+0x3", "sync 1", "quiesce")
	f.nothingLeft()
}

// TestSlotHoldsTheInstructionAndTheWayBack: with the operand where it was.
func TestSlotHoldsTheInstructionAndTheWayBack(t *testing.T) {
	f := newFake(t)
	f.must(at("t.work", 10)) // lea 0x100(%rip), %rcx
	pt := f.pointAt("t.work", 10)
	code := f.wrote[pt.Slot]
	in, err := insn.Decode(code)
	if err != nil || in.Len != 7 || !bytes.Equal(code[:3], []byte{0x48, 0x8d, 0x0d}) {
		t.Fatalf("% x: %v", code, err)
	}
	if have, want := pt.Slot+uintptr(in.Disp()), pt.Addr+0x100; have != want {
		t.Errorf("the copy's operand is %#x, not %#x", have, want)
	}
	back, err := insn.Decode(code[7:])
	if err != nil || back.Flow != insn.Jmp || back.Target(uint64(pt.Slot)+7) != uint64(pt.Addr)+7 {
		t.Errorf("behind the copy: % x", code[7:])
	}
}

// TestUnregisterWaits: while CPUs may be in handlers or in the slot, the point can be
// found and the slot is not given out.
func TestUnregisterWaits(t *testing.T) {
	f := newFake(t)
	machine.This.Slots = poolAt(fakeSlots, 1)
	k := at("t.work", 0)
	f.must(k)
	looked := false
	f.during["quiesce"] = func() {
		looked = true
		if f.byteAt("t.work", 0) == insn.OpInt3 || points.Find(k.Addr) == nil || machine.This.Slots.Used() != 1 {
			t.Errorf("byte %#x, point %v, %d slots", f.byteAt("t.work", 0), points.Find(k.Addr), machine.This.Slots.Used())
		}
		if len(k.point.probes()) != 0 || len(f.graces) != 0 {
			t.Error("the probe is called still, or the grace period has begun")
		}
	}
	UnregisterKprobe(k)
	delete(f.during, "quiesce")
	if !looked || len(f.graces) != 1 {
		t.Errorf("quiesced: %v; %d grace periods", looked, len(f.graces))
	}
	f.refused(f.now(), RegisterKprobe(at("t.work", 3)), syscall.ENOMEM, "slots are in use")
	f.graceEnds()
	f.must(at("t.work", 3))
}

// TestSlotsRunOut: then nothing changes, and what needs none is registered still.
func TestSlotsRunOut(t *testing.T) {
	f := newFake(t)
	machine.This.Slots = poolAt(fakeSlots, 2)
	f.must(at("t.work", 0), at("t.work", 3))
	f.refused(f.now(), RegisterKprobe(at("t.work", 7)), syscall.ENOMEM, "all 2 slots are in use")
	f.must(at("t.work", 0), at("t.branches", 0))
}

// TestMemoryRunsOut: places are probed up to half of the memory, and those that are get more probes up to three
// quarters. These used not to be counted: a program that attached to all functions again and again took all memory.
func TestMemoryRunsOut(t *testing.T) {
	f := newFake(t)
	machine.This.CPUs = 64 // their accounts are most of it
	each := probeBytes + uint64(machine.This.CPUs+1)*uint64(ledger.AccountBytes)
	machine.This.Memory = 2*2*each + 1
	for range 2 {
		ks := []*Kprobe{at("t.work", 0), at("t.work", 3)}
		f.must(ks...)
		f.refused(f.now(), RegisterKprobe(at("t.work", 7)), syscall.ENOMEM, "no memory for another probe; 2 are registered")
		more := at("t.work", 0)
		f.must(more)
		f.refused(f.now(), RegisterKprobe(at("t.work", 0)), syscall.ENOMEM, "no memory for another probe; 3 are registered")
		UnregisterKprobe(more)
		UnregisterKprobe(ks[0])
		ks[0] = at("t.branches", 0)
		f.must(ks[0])
		UnregisterKprobes(ks)
	}
}

// TestBatch: one wait for all of a batch, whether it comes or goes.
func TestBatch(t *testing.T) {
	f := newFake(t)
	ks := []*Kprobe{at("t.work", 0), at("t.work", 3), at("t.work", 0), at("t.branches", 0)}
	f.must(ks...)
	n := f.did(0, "write", "write", "watch", "arm t.work+0x0", "arm t.work+0x3", "arm t.branches+0x0", "sync 3", "quiesce")
	UnregisterKprobes(ks)
	f.did(n, "disarm t.work+0x0", "disarm t.work+0x3", "disarm t.branches+0x0", "sync 3", "quiesce")
	if len(f.graces) != 1 {
		t.Errorf("%d grace periods", len(f.graces))
	}
	f.nothingLeft()
	UnregisterKprobes(ks) // they are not registered: nothing happens
	f.did(len(f.log))
}

// complete completes a change.
func (f *fake) complete(c grace.Change) {
	f.later = true
	c.Complete()
	f.later = false
}

// TestLinksTogether: the probes of two links come and go with one change. While it is not complete, CPUs may not
// execute what was written, so another probe there waits by itself.
func TestLinksTogether(t *testing.T) {
	f := newFake(t)
	ofLink := func(off uintptr) *Kprobe {
		k := at("t.work", off)
		k.Place = &attach.Place{Link: &attach.Link{}, Site: &attach.Site{}}
		return k
	}
	one, c, err := Insert([]*Kprobe{ofLink(0)}, optional)
	two, more, err2 := Insert([]*Kprobe{ofLink(3), ofLink(0)}, optional)
	if err != nil || err2 != nil {
		t.Fatal(err, err2)
	}
	n := f.did(0, "write", "watch", "arm t.work+0x0", "write", "watch", "arm t.work+0x3")
	f.must(at("t.work", 0))
	n = f.did(n, "watch", "sync 1", "quiesce")
	f.complete(c.With(more))
	n = f.did(n, "sync 1", "sync 2", "quiesce", "quiesce")
	f.must(at("t.work", 0))
	n = f.did(n, "watch")
	f.complete(Remove(one).With(Remove(two)))
	f.did(n, "disarm t.work+0x3", "sync 1", "quiesce", "quiesce")
}

// optional: no probe is.
func optional(*Kprobe) bool { return false }

// TestTwice: a registered probe is not registered again, not even within a batch.
func TestTwice(t *testing.T) {
	f := newFake(t)
	k := at("t.work", 0)
	before := f.now()
	f.refused(before, RegisterKprobes([]*Kprobe{k, k}), syscall.EEXIST, "registered already")
	f.graceEnds()
	f.must(k)
	point := k.point
	f.refused(f.now(), RegisterKprobe(k), syscall.EEXIST, "registered already")
	if k.point != point || k.Addr == 0 {
		t.Error("the registered probe has changed")
	}
	if err := DisableKprobe(at("t.work", 0)); !errors.Is(err, syscall.EINVAL) {
		t.Errorf("disabling another: %v", err)
	}
}

// TestOrder: probes at one place are called in the order of registration, and hits
// read a list that is replaced, not changed.
func TestOrder(t *testing.T) {
	f := newFake(t)
	a, b, c := at("t.work", 0), at("t.work", 0), at("t.work", 0)
	f.must(a, b, c)
	was := a.point.probes()
	UnregisterKprobe(b)
	if now := a.point.probes(); len(now) != 2 || now[0] != a || now[1] != c || len(was) != 3 || was[1] != b {
		t.Errorf("%v, before %v", now, was)
	}
	f.must(b)
	if now := a.point.probes(); now[2] != b {
		t.Error("registered again, it is not the last")
	}
}

// TestProbesAreNotCode: the code that is looked at is the image's, whatever probes
// have put there.
func TestProbesAreNotCode(t *testing.T) {
	f := newFake(t)
	f.must(at("t.work", 3))
	if _, err := Describe("t.work", 4); !errors.Is(err, syscall.EILSEQ) {
		t.Errorf("behind the byte of a breakpoint: %v", err)
	}
	fn := f.image[addrOf(t, "t.work", 0)-fakeText:][:16]
	if have := Original(addrOf(t, "t.work", 0), 16); !bytes.Equal(have, fn) {
		t.Errorf("% x, want % x", have, fn)
	}
}

// TestOpcodeIsTheImages: whatever stands in its place, and only while k is registered.
func TestOpcodeIsTheImages(t *testing.T) {
	f := newFake(t)
	k, second := at("t.work", 3), at("t.work", 3)
	if k.Opcode() != 0 {
		t.Errorf("%#x of a probe that was never registered", k.Opcode())
	}
	f.must(k, second)
	if want := f.image[k.Addr-fakeText]; k.Opcode() != want || second.Opcode() != want || f.byteAt("t.work", 3) != insn.OpInt3 {
		t.Errorf("%#x and %#x, want %#x", k.Opcode(), second.Opcode(), want)
	}
	if UnregisterKprobe(k); k.Opcode() != 0 {
		t.Errorf("%#x when it is unregistered", k.Opcode())
	}
}
