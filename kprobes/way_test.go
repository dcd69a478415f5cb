package kprobes

import (
	"syscall"
	"testing"

	"sonde/kprobes/place"
)

// ways says for each kind of instruction how it gets done, and when a post-handler
// is to be called behind it.
var ways = []struct {
	name    string
	symbol  string
	off     uintptr
	pre     place.Way
	post    place.Way
	nested  place.Way // inside another handler: no handler is called
	needsIt bool      // it has a slot
}{
	{"mov", "t.work", 0, place.Boosted, place.Stepped, place.Boosted, true},
	{"RIP-relative", "t.work", 10, place.Boosted, place.Stepped, place.Boosted, true},
	{"jmp", "t.branches", 0, place.Branched, place.Emulated, place.Emulated, false},
	{"jcc", "t.branches", 2, place.Emulated, place.Emulated, place.Emulated, false},
	{"call", "t.branches", 4, place.Emulated, place.Emulated, place.Emulated, false},
	{"call of a register", "t.branches", 9, place.Emulated, place.Emulated, place.Emulated, false},
	{"jmp to a register", "t.branches", 11, place.Emulated, place.Emulated, place.Emulated, false},
	{"ret", "t.branches", 13, place.Emulated, place.Emulated, place.Emulated, false},
	{"pushf", "t.system", 0, place.Emulated, place.Emulated, place.Emulated, false},
	{"cli", "t.system", 1, place.Emulated, place.Emulated, place.Emulated, false},
	{"rep", "t.system", 2, place.Boosted, place.Stepped, place.Boosted, true},
	{"mov to CR3", "t.system", 4, place.Boosted, place.Refused, place.Boosted, true},
	{"small frame", "t.small", 0, place.Decided, place.Stepped, place.Boosted, true},
	{"medium frame", "t.medium", 0, place.Decided, place.Decided, place.Boosted, true},
	{"large frame", "t.large", 0, place.Decided, place.Decided, place.Boosted, true},
	{"in a medium check", "t.medium", 5, place.Within, place.Within, place.Boosted, true},
	{"in a large check", "t.large", 3, place.Within, place.Within, place.Boosted, true},
	{"a branch in a large check", "t.large", 10, place.Within, place.Within, place.Emulated, false},
	{"last of a large check", "t.large", 12, place.Within, place.Within, place.Boosted, true},
	{"behind a small check", "t.small", 4, place.Emulated, place.Emulated, place.Emulated, false},
	{"behind a large check", "t.large", 16, place.Emulated, place.Emulated, place.Emulated, false},
}

// TestWays: the one decision, as it is described and as hits go by it.
func TestWays(t *testing.T) {
	for _, c := range ways {
		t.Run(c.name, func(t *testing.T) {
			f := newFake(t)
			d, err := Describe(c.symbol, c.off)
			if err != nil || d.Pre != c.pre || d.Post != c.post {
				t.Fatalf("described as %d and %d, want %d and %d; %v", d.Pre, d.Post, c.pre, c.post, err)
			}
			k := at(c.symbol, c.off)
			f.must(k)
			if (k.point.Slot != 0) != c.needsIt || k.point.Bare(false) != c.nested {
				t.Errorf("slot %#x, by itself %d", k.point.Slot, k.point.Bare(false))
			}
			hitsGo(t, k, c.pre)
			later := at(c.symbol, c.off)
			later.PostHandler = post
			if c.post == place.Refused {
				f.refused(f.now(), RegisterKprobe(later), syscall.EILSEQ, "which a post-handler needs")
				hitsGo(t, k, c.pre)
				return
			}
			f.must(later)
			hitsGo(t, k, c.post)
			UnregisterKprobe(later)
			hitsGo(t, k, c.pre)
		})
	}
}

func hitsGo(t *testing.T, k *Kprobe, want place.Way) {
	t.Helper()
	if way := place.Way(k.point.way.Load()); way != want {
		t.Errorf("hits go by %d, want %d", way, want)
	}
}

// TestDescribingTakesNothing: the answer to a question is no slot, and no code.
func TestDescribingTakesNothing(t *testing.T) {
	f := newFake(t)
	before := f.now()
	for _, c := range ways {
		if _, err := Describe(c.symbol, c.off); err != nil {
			t.Error(err)
		}
	}
	if f.unchanged(before); len(f.log) != 0 {
		t.Errorf("called %q", f.log)
	}
	k := at("t.work", 3)
	f.must(k)
	f.must(at("t.work", 10))
	d, err := Describe("", k.Addr)
	if err != nil || d.Symbol != "t.work" || !d.Armed || d.Slot != k.point.Slot || len(d.Probes) != 1 || d.Probes[0].Kind != "k" {
		t.Errorf("%+v, %v", d, err)
	}
	if len(d.Near) != 1 || d.Near[0].Addr != k.Addr+7 {
		t.Errorf("near: %+v", d.Near)
	}
	if all := All(); len(all) != 2 || all[0].Addr != k.Addr {
		t.Errorf("all: %+v", all)
	}
}

// TestShortWays: which probes a detour calls itself.
func TestShortWays(t *testing.T) {
	f := newFake(t)
	k, rp := at("t.small", 0), returns("t.small")
	type short struct{ call, note, second bool }
	expect := func(when string, want short) {
		t.Helper()
		pt := f.pointAt("t.small", 0)
		if got := (short{pt.call.Load() != wordOf(&others), pt.note.Load() != 0, pt.second.Load() != 0}); got != want {
			t.Errorf("%s: %+v, want %+v", when, got, want)
		}
	}
	f.must(k)
	expect("a lone kprobe", short{call: true})
	f.mustReturn(rp)
	expect("a return probe behind it", short{call: true, second: true})
	if err := DisableKprobe(k); err != nil {
		t.Error(err)
	}
	expect("the first disabled", short{})
	UnregisterKprobe(k)
	expect("a lone return probe", short{note: true})
	f.must(k)
	expect("a return probe in front", short{})
	UnregisterKretprobe(rp)
	expect("disabled and alone", short{})
	if err := EnableKprobe(k); err != nil {
		t.Error(err)
	}
	expect("enabled and alone", short{call: true})
	UnregisterKprobe(k)
	k.PreHandler = nil
	f.must(k)
	expect("without a handler", short{})
	UnregisterKprobe(k)
	k.PreHandler, f.sse = pre, pre
	f.must(k)
	expect("a handler that changes X0", short{})
	UnregisterKprobe(k)
	rp.EntryHandler = ends
	f.mustReturn(rp)
	expect("an entry handler", short{})
}
