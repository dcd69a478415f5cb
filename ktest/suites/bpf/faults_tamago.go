//go:build tamago

package bpf

import (
	"sonde/kernel/text"
	"sonde/kprobes/detour"
	"sonde/ktest/suites"
)

// faults: code that is not as it was compiled. The hit continues, the probe is disabled, and the log names
// the program; others run on this CPU afterwards.
func faults(t *suites.T) {
	t.Must(detour.Fusing.Store(false)) // its code is changed, which copies would not show
	defer detour.Fusing.Store(true)
	since := suites.Mark()
	p := load(t, count)
	text.WriteSlot(p.At(0), []byte{0x0f, 0x0b}) // UD2
	l := p.attach(t, pkg+"square")
	for i := range uint64(100) {
		if square(i) != i*i {
			t.Errorf("%d: another result", i)
		}
	}
	if got := l.Ledger(); got.Abandoned == 0 || got.Handled != 0 || got.Unexplained() != 0 {
		t.Errorf("%+v", got)
	}
	if n := suites.Logged(since, "abandoned", "bpf_prog_test [bpf]"); n != 1 {
		t.Errorf("%d reports", n)
	}
	p.close()
	good := load(t, count)
	l = good.attach(t, pkg+"cube")
	for i := range uint64(100) {
		cube(i)
	}
	l.Close()
	if good.balance(t, l, 100); good.Recursion() != 0 {
		t.Errorf("%d hits seem to be inside of the program that is gone", good.Recursion())
	}
	good.close()
}
