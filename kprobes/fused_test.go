package kprobes

import (
	"slices"
	"testing"
	"unsafe"

	"sonde/arch/amd64/insn"
	"sonde/arch/amd64/trap"
	"sonde/kernel/cpu/percpu"
	"sonde/kprobes/detour"
	"sonde/kprobes/machine"
	"sonde/probe/attach"
	"sonde/probe/ledger"
)

// fuserFake is a handler that can be compiled, if ready.
type fuserFake struct{ ready bool }

func (f *fuserFake) Ready() bool                                { return f.ready }
func (f *fuserFake) Fuse(*attach.Fusion) (*attach.Fused, error) { return nil, nil }

// fusedAt has a probe at t.work whose handler's code is in its detour, from +32 to +64, and hits go there.
func (f *fake) fusedAt() (k *Kprobe, h *fuserFake, d *detour.Detour) {
	f.t.Helper()
	k, h = f.fusible()
	c := &Candidates()[0]
	if c.Lone != k || c.Count == 0 {
		f.t.Fatalf("%+v is not to be fused", c)
	}
	c = f.bound(7)
	d = c.Detour
	d.Fused, d.Past, d.For = d.Head+32, d.Resume, k
	f.jumps(1)
	f.leads(d, d.Fused)
	return k, h, d
}

// fusible has a probe at t.work whose handler can be compiled.
func (f *fake) fusible() (k *Kprobe, h *fuserFake) {
	f.t.Helper()
	memory := make([]uint64, machine.This.CPUs*trap.AreaSize/8)
	percpu.Init(unsafe.Pointer(&memory[0]), machine.This.CPUs)
	f.t.Cleanup(func() { percpu.Init(nil, 0) })
	k, h = at("t.work", 0), &fuserFake{true}
	k.Place = &attach.Place{Link: &attach.Link{Handler: func(*attach.Hit) {}, Options: attach.Options{Fuse: h}}}
	f.must(k)
	return k, h
}

// jumps puts in the jumps that are wanted.
func (f *fake) jumps(want int) {
	f.t.Helper()
	if n, _, err := Jump(Candidates()); n != want || err != nil {
		f.t.Fatalf("%d jumps, %v", n, err)
	}
	if again := Candidates(); len(again) != 0 {
		f.t.Fatalf("%+v is still to be done", again)
	}
}

// leads checks where the jump at d's place leads.
func (f *fake) leads(d *detour.Detour, to uintptr) {
	f.t.Helper()
	in, err := insn.Decode(f.code(d.Addr, insn.MaxLen))
	if err != nil || in.Flow != insn.Jmp || in.Target(uint64(d.Addr)) != uint64(to) {
		f.t.Errorf("% x: not a jump to %#x", f.code(d.Addr, 5), to)
	}
	if have := Original(d.Addr, 8); !slices.Equal(have, f.image[d.Addr-fakeText:][:8]) {
		f.t.Errorf("the image's code is % x?", have)
	}
}

// ran counts a hit that ran the code on a CPU.
func (k *Kprobe) ran(cpu int) { *(*uint64)(percpu.At(k.tally().At(), cpu))++ }

// TestFusedGoesBack: whatever ends it, hits call the handlers when that returns; and then again run the code.
func TestFusedGoesBack(t *testing.T) {
	other := at("t.work", 0)
	c := camera(t, "t.work", 0, false)
	for name, way := range map[string]struct{ end, again func(h *fuserFake) }{
		"a second probe": {func(*fuserFake) { RegisterKprobe(other) }, func(*fuserFake) { UnregisterKprobe(other) }},
		"a camera":       {func(*fuserFake) { RegisterCamera(c) }, func(*fuserFake) { UnregisterCamera(c) }},
		"the door":       {func(h *fuserFake) { h.ready = false; Refit(nil) }, func(h *fuserFake) { h.ready = true; Refit(nil) }},
		"the sysctl":     {func(*fuserFake) { detour.Fusing.Store(false); Refit(nil) }, func(*fuserFake) { detour.Fusing.Store(true); Refit(nil) }},
		"plain":          {func(*fuserFake) { detour.Plain.Store(true); Refit(nil) }, func(*fuserFake) { detour.Plain.Store(false); Refit(nil) }},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t)
			k, h, d := f.fusedAt()
			way.end(h)
			f.leads(d, d.Entry)
			if len(Candidates()) != 0 {
				t.Error("it is to be fused again at once")
			}
			way.again(h)
			f.leads(d, d.Entry)
			f.jumps(1)
			f.leads(d, d.Fused)
			UnregisterKprobe(k)
		})
	}
}

// stubAt has a probe at t.work whose handler's code is in a stub.
func (f *fake) stubAt() (k *Kprobe, h *fuserFake, pt *point) {
	f.t.Helper()
	k, h = f.fusible()
	f.bindStub()
	return k, h, f.pointAt("t.work", 0)
}

// bindStub gives the only place that lacks a stub one.
func (f *fake) bindStub() {
	f.t.Helper()
	list := Unstubbed()
	if len(list) != 1 {
		f.t.Fatalf("%+v lack stubs", list)
	}
	c := &list[0]
	head, _ := machine.This.Detours.Take(c.Addr)
	if !c.BindStub(&detour.Stub{Head: head, Len: 60, For: c.Lone, Leads: c.Leads}) {
		f.t.Fatal("the place is gone")
	}
	if pt := points.Find(c.Addr); pt.trap.Code != head || len(Unstubbed()) != 0 {
		f.t.Errorf("it leads to %#x, not %#x", pt.trap.Code, head)
	}
}

// TestStubGoesBack: whatever ends it, hits call the handlers when that returns, and no CPU is in the stub.
func TestStubGoesBack(t *testing.T) {
	other := at("t.work", 0)
	for name, way := range map[string]struct{ end, again func(h *fuserFake) }{
		"a second probe": {func(*fuserFake) { RegisterKprobe(other) }, func(*fuserFake) { UnregisterKprobe(other) }},
		"the door":       {func(h *fuserFake) { h.ready = false; Refit(nil) }, func(h *fuserFake) { h.ready = true; Refit(nil) }},
		"the sysctl":     {func(*fuserFake) { detour.Fusing.Store(false); Refit(nil) }, func(*fuserFake) { detour.Fusing.Store(true); Refit(nil) }},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t)
			k, h, pt := f.stubAt()
			f.asked, f.waits = 0, 0
			way.end(h)
			if pt.trap.Code != machine.This.Known || f.waits == 0 {
				t.Errorf("hits run the program; all CPUs were waited for %d times", f.waits)
			}
			f.asked = 0
			way.again(h)
			if left := Unstubbed(); len(left) != 0 || pt.trap.Code != pt.stub.Head {
				t.Errorf("it leads to %#x; %+v", pt.trap.Code, left)
			}
			h.ready = false
			f.asked = 0
			Refit([]*Kprobe{k})
			f.asked = 1
			UnregisterKprobe(k)
		})
	}
}

// TestStubsGoTogether: CPUs are asked once for the stubs of all places that lose their probes.
func TestStubsGoTogether(t *testing.T) {
	f := newFake(t)
	k, _, _ := f.stubAt()
	other := &Kprobe{SymbolName: "t.fixed", Place: k.Place, PreHandler: k.PreHandler}
	f.must(other)
	f.bindStub()
	f.waits = 0
	UnregisterKprobes([]*Kprobe{k, other})
	if f.waits != 1 {
		t.Errorf("all CPUs were waited for %d times, want once", f.waits)
	}
}

// TestStubIsForOneProbe: hits never run the code of another probe, nor go on where the place's own code is not any more.
func TestStubIsForOneProbe(t *testing.T) {
	f := newFake(t)
	k, _, pt := f.stubAt()
	second := &Kprobe{SymbolName: "t.work", Place: k.Place, PreHandler: k.PreHandler}
	f.must(second)
	UnregisterKprobe(k)
	if pt.trap.Code != machine.This.Known {
		t.Error("hits run the program of a probe that is gone")
	}
	f.bindStub()
	f.bound(7) // a detour: from now on a hit goes on in its copy
	if pt.trap.Code != machine.This.Known {
		t.Error("hits go on in the slot")
	}
	f.bindStub()
	UnregisterKprobe(second)
}

// TestFusedWaits: the code is not left behind while a CPU is in it, from its entry to the copy; whoever asks for that
// waits.
func TestFusedWaits(t *testing.T) {
	f := newFake(t)
	k, h, d := f.fusedAt()
	f.stands = []uintptr{d.Fused - 1, d.Resume}
	f.during["grace"] = func() { t.Error("waits for CPUs that are elsewhere") }
	h.ready = false
	Refit([]*Kprobe{k})
	f.leads(d, d.Entry)
	for _, ip := range []uintptr{d.Fused, d.Resume - 1} {
		h.ready = true
		f.jumps(1)
		f.stands, f.during["grace"] = []uintptr{ip}, func() { f.stands = nil }
		h.ready = false
		n := len(f.log)
		Refit([]*Kprobe{k})
		f.did(n, "swap 1", "grace", "swap 1")
	}
	h.ready = true
	f.jumps(1)
	f.stands = []uintptr{d.Fused + 5}
	n := len(f.log)
	UnregisterKprobe(k)
	f.did(n, "swap 1", "grace", "swap 1", "disarm t.work+0x0", "sync 1", "quiesce")
}

// TestFusedApart: code that is in memory of its own is where the detour is, and stays as long.
func TestFusedApart(t *testing.T) {
	f := newFake(t)
	k, _ := f.fusible()
	d := f.bound(7).Detour
	apart, ok := machine.This.Detours.Take(d.Addr)
	if !ok {
		t.Fatal("no memory")
	}
	d.Apart, d.Fused, d.Past, d.For = apart, apart+16, apart+100, k
	f.jumps(1)
	f.leads(d, d.Fused)
	if !d.Contains(apart+20) || d.Contains(apart+detour.Size) || !d.Contains(d.Head) {
		t.Errorf("%#x is in the detour at %#x: %v", apart, d.Head, d.Contains(apart))
	}
	f.stands, f.during["grace"] = []uintptr{apart + 99}, func() { f.stands = nil }
	n, used := len(f.log), machine.This.Detours.Used()
	UnregisterKprobe(k)
	f.did(n, "swap 1", "grace", "swap 1", "disarm t.work+0x0", "sync 1", "quiesce")
	if is := machine.This.Detours.Used(); is != used-2 {
		t.Errorf("%d pieces of %d are in use", is, used)
	}
}

// TestFusedIsForOneProbe: code that was made for another probe is never entered.
func TestFusedIsForOneProbe(t *testing.T) {
	f := newFake(t)
	k, _, d := f.fusedAt()
	second := &Kprobe{SymbolName: "t.work", Place: k.Place, PreHandler: k.PreHandler}
	f.must(second)
	UnregisterKprobe(k)
	if len(Candidates()) != 0 {
		t.Error("it is to be fused")
	}
	f.leads(d, d.Entry)
	UnregisterKprobe(second)
}

// TestFusedLedger: hits that ran the code are entered and handled, at each moment once.
func TestFusedLedger(t *testing.T) {
	f := newFake(t)
	k, _, _ := f.fusedAt()
	count := func(want uint64) {
		t.Helper()
		if l := k.Ledger(); l.Entered != want || l.Handled != want || l.Unexplained() != 0 || k.Hits() != want {
			t.Errorf("%+v, want %d", l, want)
		}
	}
	count(0)
	for cpu := range machine.This.CPUs {
		k.ran(cpu)
	}
	k.ran(2)
	count(5)
	k.ledger.On(0)[ledger.Entered]++
	k.ledger.On(0)[ledger.Handled]++
	count(6)
	at := k.tally().At()
	UnregisterKprobe(k)
	count(6)
	off, err := percpu.Take(8)
	if err != nil || off != at {
		t.Errorf("its memory is not given back: %#x, %v", off, err)
	}
	*(*uint64)(percpu.At(off, 1)) = 77
	count(6)
	percpu.Give(off, 8)
	k.Addr = 0
	f.must(k)
	count(0)
	UnregisterKprobe(k)
}

// TestFusedWhileTheSysctlChanges: what is at the place is known, whatever was wanted meanwhile.
func TestFusedWhileTheSysctlChanges(t *testing.T) {
	f := newFake(t)
	k, _, d := f.fusedAt()
	detour.Fusing.Store(false)
	Refit(nil)
	detour.Fusing.Store(true)
	f.during["swap 1"] = func() { detour.Fusing.Store(false) }
	defer detour.Fusing.Store(true)
	if n, _, err := Jump(Candidates()); n != 1 || err != nil {
		t.Fatalf("%d jumps, %v", n, err)
	}
	f.leads(d, d.Fused)
	Refit(nil)
	f.leads(d, d.Entry)
	UnregisterKprobe(k)
}
