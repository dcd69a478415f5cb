package kprobes

import (
	"runtime"
	"testing"
	"weak"
)

// TestOptimizerIsToldOfEachChange: of the end of a probe, too, since its neighbour may have a
// jump then.
func TestOptimizerIsToldOfEachChange(t *testing.T) {
	f := newFake(t)
	o := &fakeOptimizer{}
	SetOptimizer(o)
	k := at("t.work", 0)
	for i, change := range []func(){
		func() { f.must(k) }, func() { DisableKprobe(k) }, func() { EnableKprobe(k) },
		func() { SetEnabled(false) }, func() { SetEnabled(true) }, func() { UnregisterKprobe(k) },
	} {
		if change(); o.kicks != i+1 {
			t.Errorf("change %d: told %d times", i, o.kicks)
		}
	}
}

// TestJumpOnlyWhereABreakpointIs: the probe has been disabled since it was listed.
func TestJumpOnlyWhereABreakpointIs(t *testing.T) {
	f := newFake(t)
	k := at("t.work", 0)
	f.must(k)
	c := f.bound(7)
	if err := DisableKprobe(k); err != nil {
		t.Fatal(err)
	}
	if done, _, err := Jump([]Candidate{*c}); done != 0 || err != nil || Optimized(k.Addr) {
		t.Errorf("%d jumps, %v", done, err)
	}
}

// TestListIsKeptForHits: hits know the list of a point by its address alone, so the collector
// must not have it before they are done.
func TestListIsKeptForHits(t *testing.T) {
	f := newFake(t)
	first, second := at("t.work", 0), at("t.work", 0)
	f.must(first)
	f.must(second)
	list := weak.Make(first.point.list.First())
	looked := false
	f.during["quiesce"] = func() {
		runtime.GC()
		runtime.GC()
		if looked = true; list.Value() == nil {
			t.Error("it is freed while hits may go through it")
		}
	}
	UnregisterKprobe(second)
	if !looked {
		t.Error("hits are not waited for")
	}
	f.during["quiesce"] = nil
}
