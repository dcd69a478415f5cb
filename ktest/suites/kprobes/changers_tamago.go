//go:build tamago

package kprobes

import (
	"bytes"
	"sync/atomic"
	"unsafe"

	"sonde/arch/amd64"
	"sonde/kernel/mm"
	"sonde/kernel/text"
	"sonde/kprobes"
	"sonde/ktest/suites"
	"sonde/ktest/suites/targets"
	"sonde/optprobe"
)

func init() {
	suites.Add("kprobes/every_boundary_of_what_changes_code", everyChanger)
	suites.Add("kprobes/byte_next_to_a_poke_is_kept", pokedAround)
}

// changers are functions by which breakpoints and jumps come and go, and that tell
// where the instructions in copies belong. They can be probed as any others.
var changers = []string{
	"sonde/kernel/text.Poke", "sonde/kernel/text.WriteSlot", "sonde/kernel/smp.callOthers", "sonde/kernel/smp.called",
	"sonde/optprobe.(*plan).original", "sonde/optprobe.(*plan).depth",
}

// change makes probes of each kind come and go, and copies fault.
func change(t *suites.T) {
	for _, post := range []kprobes.PostHandler{nil, postNothing} {
		k := arm(t, &kprobes.Kprobe{SymbolName: pkg + "Leaf", PostHandler: post})
		faulty := arm(t, &kprobes.Kprobe{SymbolName: dereferenceName, PostHandler: post})
		if optprobe.Able() {
			t.Must(optprobe.Optimize())
		}
		targets.Leaf(1, 2)
		if e, _ := faulting(); e == nil {
			t.Errorf("a load from nil does not fault")
		}
		kprobes.UnregisterKprobes([]*kprobes.Kprobe{k, faulty})
		expect(t, k, 1, 0)
	}
}

// everyChanger probes their instructions one at a time, and all at once, while they do
// what they are for.
func everyChanger(t *suites.T) {
	t.OneMachine()
	hit := 0
	for _, post := range []bool{false, true} {
		for i, k := range atEach(t, changers, goOn, post) {
			if i%12 != 0 {
				continue
			}
			t.Must(kprobes.RegisterKprobe(k))
			change(t)
			kprobes.UnregisterKprobe(k)
			expect(t, k, k.Hits(), k.NMissed())
			if k.Hits() > 0 {
				hit++
			}
		}
		all := atEach(t, changers, goOn, post)
		t.Must(kprobes.RegisterKprobes(all))
		for range 5 {
			change(t)
		}
		kprobes.UnregisterKprobes(all)
		for _, k := range all {
			expect(t, k, k.Hits(), k.NMissed())
			if k.Hits() > 0 {
				hit++
			}
		}
	}
	clean(t)
	if t.Logf("%d probes were hit", hit); hit < 100 {
		t.Errorf("too few")
	}
}

// pokedAround changes the byte next to the one that text.Poke changes, at each of Poke's
// instructions: as another CPU may that pokes at the same time.
func pokedAround(t *suites.T) {
	const flip = 0x40
	at := codeOf(unused)
	var now atomic.Bool
	neighbour := (*uint32)(unsafe.Pointer((at &^ 3) + mm.AliasOffset)) // Safe because: boot maps text there to be written
	other := (at ^ 1) % 4 * 8
	flipNow := func(*kprobes.Kprobe, *amd64.Regs) int {
		if now.CompareAndSwap(true, false) {
			for v := atomic.LoadUint32(neighbour); !atomic.CompareAndSwapUint32(neighbour, v, v^flip<<other); {
				v = atomic.LoadUint32(neighbour)
			}
		}
		return 0
	}
	was := bytes.Clone(text.Bytes(at&^3, 4))
	hit := 0
	for _, k := range atEach(t, changers[:1], flipNow, false) {
		t.Must(kprobes.RegisterKprobe(k))
		old := was[at%4]
		now.Store(true)
		t.Must(text.Poke(at, old, old^1))
		if !now.Swap(false) {
			hit++
			t.Must(text.Poke(at^1, was[(at^1)%4]^flip, was[(at^1)%4]))
		}
		t.Must(text.Poke(at, old^1, old))
		kprobes.UnregisterKprobe(k)
		if !bytes.Equal(text.Bytes(at&^3, 4), was) {
			t.Fatalf("at %s+%#x: % x, before % x", k.SymbolName, k.Offset, text.Bytes(at&^3, 4), was)
		}
	}
	if t.Logf("%d instructions", hit); hit < 15 {
		t.Errorf("too few")
	}
	clean(t)
}

// unused is code that nothing executes.
//
//go:noinline
func unused() {}
