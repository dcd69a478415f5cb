package reach

import (
	"maps"
	"slices"
	"testing"
)

// TestBlacklistFollowsTraps uses the calls of a small kernel under its real names.
func TestBlacklistFollowsTraps(t *testing.T) {
	f := &fake{}
	f.add("sonde/arch/amd64/trap.entry", nop+f.jmp(1, 1))
	f.add("sonde/arch/amd64/trap.save", "\xff\xd1"+f.jmp(2, 7)) // CALL CX: the handler
	f.add("sonde/kernel/die.exception", f.call(0, 3)+f.call(5, 4)+ret)
	f.add("x/deep.Helper", ret)
	f.add("sonde/kernel/printk.Emerg", f.call(0, 5)+ret)
	f.add("x/format.Helper", ret)
	f.add("sonde/kprobes.Register", f.call(0, 5)+ret)
	f.add("sonde/arch/amd64/trap.restore", "\x48\xcf")
	f.add("runtime.SondeTick", f.call(0, 9)+f.call(5, 5)+ret)
	f.add("runtime.sondeExpire", ret)
	f.add("sonde/kernel/foo.marked", ret)
	g := f.graph(t)
	got := map[string]string{}
	for addr, why := range g.Blacklist([]string{"sonde/kernel/foo.marked"}) {
		fn, _ := g.At(addr)
		got[fn.Name] = why
	}
	want := map[string]string{
		"sonde/arch/amd64/trap.entry":   "it handles traps: trap.entry",
		"sonde/arch/amd64/trap.save":    "it handles traps: trap.entry -> trap.save",
		"sonde/arch/amd64/trap.restore": "it handles traps: trap.entry -> trap.save -> trap.restore",
		"sonde/kernel/die.exception":    "it handles traps: trap.entry -> trap.save -> die.exception",
		"x/deep.Helper":                 "it handles traps: trap.entry -> trap.save -> die.exception -> deep.Helper",
		"sonde/kprobes.Register":        "it implements probes",
		"runtime.SondeTick":             "threads are switched in it: runtime.SondeTick",
		"runtime.sondeExpire":           "threads are switched in it: runtime.SondeTick -> runtime.sondeExpire",
		"sonde/kernel/foo.marked":       "it is marked NoKprobe",
	}
	if !maps.Equal(got, want) {
		t.Errorf("blacklist %v\nwant      %v", got, want)
	}
}

// TestUnlistedIndirectCallsOfTrapsAreFound: no rule says where x/deep's call leads.
func TestUnlistedIndirectCallsOfTrapsAreFound(t *testing.T) {
	f := &fake{}
	f.add("sonde/arch/amd64/trap.entry", f.call(0, 1)+f.call(5, 2)+ret)
	f.add("sonde/arch/amd64/trap.save", "\xff\xd1"+ret)
	f.add("x/deep.Asks", "\xff\xd1"+ret)
	f.add("x/elsewhere.Asks", "\xff\xd1"+ret)
	var found []string
	for _, fn := range f.graph(t).Unlisted() {
		found = append(found, fn.Name)
	}
	if !slices.Equal(found, []string{"x/deep.Asks"}) {
		t.Errorf("found %q", found)
	}
}

func TestBreachesAreShownWithTheWay(t *testing.T) {
	f := &fake{}
	f.add("x.handler", f.call(0, 1)+f.call(5, 2)+f.call(10, 4)+ret)
	f.add("x.format", f.call(0, 3)+f.call(5, 5)+ret)
	f.add("runtime.mapassign_fast64", f.call(0, 3)+ret)
	f.add("runtime.mallocgc", f.call(0, 6)+ret)
	f.add("runtime.panicBounds", f.call(0, 7)+ret) // on the way to a panic all is lost anyway
	f.add("x.leaf", ret)
	f.add("runtime.lock2", ret) // the allocator's own business
	f.add("runtime.gopanic", ret)
	g := f.graph(t)
	var got []string
	for _, b := range g.breaches([]uint64{f.addr(0)}, calls, nil) {
		got = append(got, b.String())
	}
	if want := []string{"writes to a map: x.handler -> runtime.mapassign_fast64", "allocates memory: x.handler -> x.format -> runtime.mallocgc"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got := g.breaches([]uint64{f.addr(5)}, calls, nil); got != nil {
		t.Errorf("a leaf: %v", got)
	}
}

// TestMistakesBeginWithTheCause: the author of a handler that formats reads of the call of
// fmt.Sprintf first, once, and not of each thing that this does.
func TestMistakesBeginWithTheCause(t *testing.T) {
	f := &fake{}
	f.add("x.handler", f.call(0, 3)+f.call(5, 1)+f.call(10, 2)+ret)
	f.add("fmt.Sprintf", f.call(0, 4)+f.call(5, 5)+ret)
	f.add("x.helper", f.call(0, 5)+ret)
	f.add("runtime.gcWriteBarrier2", ret)
	f.add("runtime.slicebytetostring", ret)
	f.add("sync.(*Mutex).Lock", ret)
	f.add("runtime.mapassign_fast64", ret)
	var got []string
	for _, b := range NewGuard(f.graph(t), nil).Mistakes(f.addr(0)) {
		got = append(got, b.String())
	}
	want := []string{
		"allocates memory: x.handler -> fmt.Sprintf -> runtime.slicebytetostring",
		"stores a pointer that the collector must see: x.handler -> runtime.gcWriteBarrier2",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
