//go:build tamago

package probes

import (
	"sonde/kprobes"
	"sonde/optprobe"
	"sonde/qemu/suites"
	"sonde/qemu/suites/targets"
)

func init() {
	suites.Add("kprobes/every_boundary_of_what_changes_code", everyChanger)
}

// changers are functions by which breakpoints and jumps come and go, and that tell
// where the instructions in copies belong. They can be probed as any others.
var changers = []string{
	"sonde/kernel/text.Poke", "sonde/kernel/text.WriteSlot", "sonde/kernel/smp.callOthers", "sonde/kernel/smp.called",
	"sonde/optprobe.(*plan).original", "sonde/optprobe.(*plan).pushed",
}

// change makes probes of each kind come and go, and copies fault.
func change(t *suites.T) {
	for _, post := range []kprobes.PostHandler{nil, postNothing} {
		k := arm(t, &kprobes.Kprobe{SymbolName: pkg + "Leaf", PostHandler: post})
		faulty := arm(t, &kprobes.Kprobe{SymbolName: dereferenceName, PostHandler: post})
		t.Must(optprobe.Optimize())
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
