package kprobes

import (
	"syscall"
	"testing"

	"sonde/arch/amd64/insn"
	"sonde/kprobes/place"
	"sonde/probe/glass"
)

// camera returns a camera, not registered yet.
func camera(t *testing.T, symbol string, off uintptr, noJump bool) *Camera {
	t.Helper()
	film, err := glass.New(1, -1)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(film.Close)
	return &Camera{KP: Kprobe{SymbolName: symbol, Offset: off}, Film: film, NoJump: noJump}
}

func (f *fake) mustCamera(c *Camera) {
	f.t.Helper()
	if err := RegisterCamera(c); err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { UnregisterCamera(c) })
}

// TestCameraIsFirst: it calls the other probes, whenever they are registered; and what a hit does to
// get the instruction executed is seen, unless a copy that runs by itself is all of it.
func TestCameraIsFirst(t *testing.T) {
	f := newFake(t)
	before, after := at("t.work", 0), at("t.work", 0)
	f.must(before)
	c := camera(t, "t.work", 0, false)
	f.mustCamera(c)
	f.must(after)
	pt := f.pointAt("t.work", 0)
	if l := pt.probes(); len(l) != 3 || l[0] != &c.KP || l[1] != before || l[2] != after {
		t.Errorf("%v", l)
	}
	if pt.call.Load() != wordOf(&others) || pt.note.Load() != 0 {
		t.Error("a hit by a jump goes past the camera")
	}
	if way := place.Way(pt.way.Load()); (way&place.Recorded != 0) != (pt.lead.Load() == 0) {
		t.Errorf("way %v (%#x), lead %#x", way, uint8(way), pt.lead.Load())
	}
	UnregisterCamera(c)
	if way := place.Way(pt.way.Load()); pt.camera() != nil || way&place.Recorded != 0 || len(pt.probes()) != 2 {
		t.Errorf("way %#x, %d probes", uint8(way), len(pt.probes()))
	}
}

// TestStepIsRecorded: with a post-handler, hits go through the camera behind the handlers.
func TestStepIsRecorded(t *testing.T) {
	f := newFake(t)
	k := at("t.work", 0)
	k.PostHandler = post
	f.must(k)
	pt := f.pointAt("t.work", 0)
	was := pt.way.Load()
	c := camera(t, "t.work", 0, false)
	f.mustCamera(c)
	if got := pt.way.Load(); got != was|uint32(place.Recorded) || place.Way(got).String() != "stepped" {
		t.Errorf("way %#x, before %#x", got, was)
	}
	UnregisterCamera(c)
	if got := pt.way.Load(); got != was {
		t.Errorf("way %#x, before %#x", got, was)
	}
}

// TestCameraRefused: nothing has changed then.
func TestCameraRefused(t *testing.T) {
	f := newFake(t)
	c := camera(t, "t.work", 0, false)
	f.mustCamera(c)
	before := f.now()
	f.refused(before, RegisterCamera(camera(t, "t.work", 0, false)), syscall.EBUSY, "a camera is there already")
	f.refused(before, RegisterCamera(c), syscall.EEXIST, "registered already")
	f.refused(before, RegisterCamera(&Camera{KP: Kprobe{SymbolName: "t.work"}}), syscall.EINVAL, "no film")
	f.refused(before, RegisterCamera(camera(t, "t.trap", 0, false)), syscall.EINVAL, "handles traps")
	f.refused(before, RegisterCamera(camera(t, "t.work", 1, false)), syscall.EILSEQ, "inside an instruction")
	f.refused(before, RegisterCamera(nil), syscall.EINVAL, "nil")
}

// TestCameraAndJump: one keeps the place a breakpoint, the other leaves a jump in.
func TestCameraAndJump(t *testing.T) {
	f := newFake(t)
	k, _ := f.jumped()
	c := camera(t, "t.work", 0, false)
	f.mustCamera(c)
	if !Optimized(k.Addr) {
		t.Error("a camera takes the jump away")
	}
	UnregisterCamera(c)
	c = camera(t, "t.work", 0, true)
	f.mustCamera(c)
	if Optimized(k.Addr) || f.byteAt("t.work", 0) != insn.OpInt3 || len(Candidates()) != 0 {
		t.Error("a jump in spite of NoJump")
	}
	UnregisterCamera(c)
	if len(Candidates()) != 1 {
		t.Error("no candidate any more")
	}
}

// TestWitnessRefused: where no address follows, or a jump would have to go.
func TestWitnessRefused(t *testing.T) {
	f := newFake(t)
	c := camera(t, "t.work", 0, false)
	if err := c.UseWitness(); err == nil {
		t.Error("of a camera that is not registered")
	}
	f.mustCamera(c)
	f.refused(f.now(), c.UseWitness(), syscall.ENOTSUP, "keep a jump away")
	UnregisterCamera(c)
	c = camera(t, "t.work", 0, true)
	f.mustCamera(c)
	if err := c.UseWitness(); err != nil {
		t.Error(err)
	}
	UnregisterCamera(c)
	if points.Len() != 0 {
		t.Error("the witness is there still")
	}
}
