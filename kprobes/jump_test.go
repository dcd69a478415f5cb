package kprobes

import (
	"errors"
	"slices"
	"syscall"
	"testing"

	"sonde/arch/amd64/insn"
	"sonde/kprobes/detour"
	"sonde/kprobes/machine"
	"sonde/kprobes/place"
)

// fakeOptimizer counts what it is told.
type fakeOptimizer struct{ kicks, finishes int }

func (o *fakeOptimizer) Kick()   { o.kicks++ }
func (o *fakeOptimizer) Finish() { o.finishes++ }

// bound gives the only candidate a detour that covers n bytes.
func (f *fake) bound(n uintptr) *Candidate {
	f.t.Helper()
	cands := Candidates()
	if len(cands) != 1 || cands[0].Detour != nil {
		f.t.Fatalf("candidates: %+v", cands)
	}
	c := &cands[0]
	head, ok := machine.This.Detours.Take(c.Addr)
	if !ok {
		f.t.Fatal("no detour")
	}
	if !c.Bind(&detour.Detour{Addr: c.Addr, Head: head, Entry: head + 16, Resume: head + 64, Len: n, PointAt: head + 8}) {
		f.t.Fatal("not bound")
	}
	return c
}

// jumped has a probe at t.work hit by a jump over 7 bytes.
func (f *fake) jumped() (*Kprobe, *Candidate) {
	f.t.Helper()
	k := at("t.work", 0)
	f.must(k)
	c := f.bound(7)
	if n, _, err := Jump([]Candidate{*c}); n != 1 || err != nil {
		f.t.Fatalf("%d jumps, %v", n, err)
	}
	return k, c
}

// isJump reports whether a jump to d is at its place.
func (f *fake) isJump(d *detour.Detour) bool {
	in, err := insn.Decode(f.code(d.Addr, insn.MaxLen))
	return err == nil && in.Flow == insn.Jmp && in.Len == insn.JumpSize && in.Target(uint64(d.Addr)) == uint64(d.Entry)
}

// TestJumpIn: a breakpoint, a detour whose copy hits go by, then the jump.
func TestJumpIn(t *testing.T) {
	f := newFake(t)
	k := at("t.work", 0)
	f.must(k)
	c := f.bound(7)
	hitsGo(t, k, place.Detoured)
	if k.point.resume.Load() != c.Detour.Resume || f.byteAt("t.work", 0) != insn.OpInt3 || Optimized(k.Addr) {
		t.Error("bound, and not hit by a breakpoint that goes on in the detour")
	}
	if again := *c; again.Bind(&detour.Detour{Addr: k.Addr}) {
		t.Error("bound twice")
	}
	n := len(f.log)
	if done, _, err := Jump([]Candidate{*c}); done != 1 || err != nil || !f.isJump(c.Detour) || !Optimized(k.Addr) {
		t.Fatalf("%d, %v: % x", done, err, f.code(k.Addr, 8))
	}
	f.did(n, "swap 1")
	if done, _, _ := Jump([]Candidate{*c}); done != 0 || len(Candidates()) != 0 {
		t.Error("jumped twice, or a candidate still")
	}
	if have := Original(k.Addr, 8); !slices.Equal(have, f.image[k.Addr-fakeText:][:8]) {
		t.Errorf("the image's code is % x?", have)
	}
	UnregisterKprobe(k)
	f.did(n+1, "swap 1", "disarm t.work+0x0", "sync 1", "quiesce")
	f.nothingLeft()
	if machine.This.Detours.Reap() != 1 {
		t.Error("the detour can be used again before its grace period is over")
	}
}

// TestJumpRetries: not while a CPU stands in the region; at its first byte it would
// take the jump, behind its last it has left.
func TestJumpRetries(t *testing.T) {
	f := newFake(t)
	k := at("t.work", 0)
	f.must(k)
	c := f.bound(7)
	for off := uintptr(1); off < insn.JumpSize; off++ {
		f.stands = []uintptr{0x1000, k.Addr + off}
		before := f.now()
		if done, _, err := Jump([]Candidate{*c}); done != 0 || !errors.Is(err, ErrRetry) || Optimized(k.Addr) {
			t.Fatalf("CPU at +%d: %d, %v", off, done, err)
		}
		f.unchanged(before)
	}
	f.stands = []uintptr{k.Addr, k.Addr + insn.JumpSize}
	if done, _, err := Jump([]Candidate{*c}); done != 1 || err != nil {
		t.Errorf("CPUs at both ends: %d, %v", done, err)
	}
	// Out again: until the CPU has gone, a grace period later.
	f.stands = []uintptr{k.Addr + 2}
	f.during["grace"] = func() { f.stands = nil }
	n := len(f.log)
	UnregisterKprobe(k)
	f.did(n, "swap 1", "grace", "swap 1", "disarm t.work+0x0", "sync 1", "quiesce")
}

// TestJumpOutWaitsForLateCPUs: whoever takes a jump out gets no error, so a stop of the machine that times
// out is tried again, whatever it is taken out for. Only then is the breakpoint removed, or another probe set.
func TestJumpOutWaitsForLateCPUs(t *testing.T) {
	inside := at("t.work", 3)
	for what, c := range map[string]struct {
		do   func(k *Kprobe)
		then string // the change of the breakpoint that it is for
	}{
		"unregistered": {UnregisterKprobe, "disarm t.work+0x0"},
		"all disabled": {func(*Kprobe) { SetEnabled(false) }, "disarm t.work+0x0"},
		"jumps off":    {func(*Kprobe) { SetJumps(false) }, ""},
		"covered":      {func(*Kprobe) { RegisterKprobe(inside) }, "arm t.work+0x3"},
	} {
		t.Run(what, func(t *testing.T) {
			f := newFake(t)
			k, d := f.jumped()
			f.late = 2
			n := len(f.log)
			c.do(k)
			if Optimized(k.Addr) || f.isJump(d.Detour) {
				t.Error("the jump is still there")
			}
			want := []string{"swap 1", "grace", "swap 1", "grace", "swap 1"}
			if c.then != "" {
				want = append(want, c.then)
			}
			did := slices.DeleteFunc(f.log[n:], func(s string) bool { return s == "write" || s == "watch" || s == "sync 1" || s == "quiesce" })
			if !slices.Equal(did, want) {
				t.Errorf("called %q, want %q", did, want)
			}
			SetEnabled(true)
			SetJumps(true)
			UnregisterKprobe(inside)
		})
	}
}

// TestSetJumps: off, breakpoints are back and nothing is a candidate.
func TestSetJumps(t *testing.T) {
	f := newFake(t)
	o := &fakeOptimizer{}
	SetOptimizer(o)
	k, c := f.jumped()
	kicks := o.kicks
	if AwaitJumps(); kicks == 0 || o.finishes != 1 {
		t.Errorf("%d kicks, %d waits", kicks, o.finishes)
	}
	SetJumps(false)
	if Optimized(k.Addr) || f.byteAt("t.work", 0) != insn.OpInt3 || len(Candidates()) != 0 {
		t.Errorf("% x, %d candidates", f.code(k.Addr, 8), len(Candidates()))
	}
	if done, _, err := Jump([]Candidate{*c}); done != 0 || err != nil {
		t.Errorf("%d jumps, %v", done, err)
	}
	SetJumps(true)
	if list := Candidates(); len(list) != 1 || list[0].Detour != c.Detour || o.kicks != kicks+2 {
		t.Errorf("%+v, %d kicks", list, o.kicks-kicks)
	}
	if done, _, err := Jump(Candidates()); done != 1 || err != nil || !f.isJump(c.Detour) {
		t.Errorf("%d jumps, %v", done, err)
	}
	SetEnabled(false)
	if slices.Contains(f.text[k.Addr-fakeText:][:8], insn.OpInt3) || Optimized(k.Addr) {
		t.Errorf("switched off: % x", f.code(k.Addr, 8))
	}
}

// TestJumpGivesWay: to whatever needs a breakpoint, or is on bytes that it covers.
func TestJumpGivesWay(t *testing.T) {
	for _, c := range []struct {
		name string
		add  func(f *fake) (remove func())
		back bool // a candidate again without it
		way  place.Way
	}{
		{"a probe in the region", func(f *fake) func() { return f.added(at("t.work", 3)) }, true, place.Boosted},
		{"a post-handler", func(f *fake) func() {
			k := at("t.work", 0)
			k.PostHandler = post
			return f.added(k)
		}, true, place.Stepped},
		{"a jprobe", func(f *fake) func() {
			j := jumps("t.work")
			f.mustJprobe(j)
			return func() { UnregisterJprobe(j) }
		}, true, place.Detoured},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFake(t)
			k, old := f.jumped()
			remove := c.add(f)
			if Optimized(k.Addr) || f.byteAt("t.work", 0) != insn.OpInt3 {
				t.Errorf("% x", f.code(k.Addr, 8))
			}
			hitsGo(t, k, c.way)
			if slices.ContainsFunc(Candidates(), func(c Candidate) bool { return c.Addr == k.Addr }) {
				t.Error("a candidate still")
			}
			remove()
			hitsGo(t, k, place.Detoured)
			if c.way != place.Detoured { // hits have been elsewhere: it must be listed anew, for its grace period
				if done, _, _ := Jump([]Candidate{*old}); done != 0 {
					t.Error("jumped without a new grace period")
				}
			}
			if done, _, err := Jump(Candidates()); done != 1 || err != nil || !Optimized(k.Addr) {
				t.Errorf("without it: %d jumps, %v", done, err)
			}
		})
	}
}

// added is must, with the way back.
func (f *fake) added(k *Kprobe) (remove func()) {
	f.must(k)
	return func() { UnregisterKprobe(k) }
}

// TestNoCandidates: what no detour could serve.
func TestNoCandidates(t *testing.T) {
	f := newFake(t)
	off, behind := at("t.work", 0), at("t.work", 3)
	off.Flags.Set(FlagDisabled)
	behind.PostHandler = post
	f.must(off, behind, at("t.medium", 5)) // within a check
	f.mustJprobe(jumps("t.small"))
	if list := Candidates(); len(list) != 0 {
		t.Errorf("%+v", list)
	}
	f.must(at("t.large", 0))
	if list := Candidates(); len(list) != 1 || list[0].Check != 16 || list[0].Begins != detour.Call {
		t.Errorf("%+v", list)
	}
	if f.mustReturn(returns("t.branches")); Candidates()[0].Begins != detour.Note && Candidates()[1].Begins != detour.Note {
		t.Errorf("%+v", Candidates())
	}
	if c := (Candidate{}); c.Bind(&detour.Detour{Addr: addrOf(t, "t.work", 7)}) {
		t.Error("a detour for a place without probes")
	}
}

// TestStopFails: an error of the stop is the caller's, and changes nothing.
func TestStopFails(t *testing.T) {
	f := newFake(t)
	k := at("t.work", 0)
	f.must(k)
	c := f.bound(7)
	f.late = 1
	late := f.now()
	_, _, err := Jump([]Candidate{*c})
	f.refused(late, err, syscall.ETIMEDOUT, "CPU 1")
	b := f.code(k.Addr, 8)
	b[4]++ // somebody else writes code
	before := f.now()
	_, _, err = Jump([]Candidate{*c})
	f.refused(before, err, syscall.EILSEQ, "is not there")
	if b[4]--; Optimized(k.Addr) {
		t.Error("counted as a jump")
	}
}
