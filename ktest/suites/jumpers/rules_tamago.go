//go:build tamago

package jumpers

import (
	"errors"
	"strings"
	"sync/atomic"
	"syscall"

	"sonde/arch/amd64"
	"sonde/arch/amd64/insn"
	"sonde/kernel/cpu"
	"sonde/kernel/printk"
	"sonde/kernel/text"
	"sonde/kprobes"
	"sonde/ktest/suites"
	"sonde/ktest/suites/targets"
)

func init() {
	suites.Add("jumpers/second_jprobe_is_busy", secondIsBusy)
	suites.Add("jumpers/with_a_kprobe", withKprobe)
	suites.Add("jumpers/handler_that_returns_is_reported_once", returnsNormally)
	suites.Add("jumpers/what_is_no_entry_is_refused", noEntry)
	suites.Add("jumpers/on_all_cpus_at_once", allCPUs)
	suites.Add("jumpers/in_a_handler_is_missed", inHandler)
	suites.Add("jumpers/batch_is_all_or_nothing", batch)
	suites.Add("jumpers/disabled_and_enabled", disabled)
}

// counting returns a jprobe on plain that counts its hits.
func counting(n *int) *kprobes.Jprobe {
	return kprobes.NewJprobe(plain, func(a, b int) int {
		*n++
		kprobes.JprobeReturn()
		return 0
	})
}

func secondIsBusy(t *suites.T) {
	var n int
	first, second := counting(&n), counting(&n)
	t.Must(kprobes.RegisterJprobe(first))
	if err := kprobes.RegisterJprobe(second); !errors.Is(err, syscall.EBUSY) {
		t.Errorf("second jprobe: %v, want EBUSY", err)
	}
	suites.Equal(t, "plain", plain(5, 1), 4)
	kprobes.UnregisterJprobe(first)
	second.KP.Addr = entry(plain)
	t.Must(kprobes.RegisterJprobe(second))
	suites.Equal(t, "plain", plain(5, 1), 4)
	kprobes.UnregisterJprobe(second)
	suites.Equal(t, "handlers", n, 2)
}

// withKprobe registers kprobes before and after the jprobe, one with a post-handler.
func withKprobe(t *suites.T) {
	var n, pre, post int
	j := counting(&n)
	a := &kprobes.Kprobe{Addr: entry(plain), PreHandler: func(*kprobes.Kprobe, *amd64.Regs) int { pre++; return 0 }}
	b := &kprobes.Kprobe{Addr: entry(plain), PreHandler: a.PreHandler,
		PostHandler: func(*kprobes.Kprobe, *amd64.Regs, uint64) { post++ }}
	t.Must(kprobes.RegisterKprobe(a))
	t.Must(kprobes.RegisterJprobe(j))
	t.Must(kprobes.RegisterKprobe(b))
	for range 10 {
		suites.Equal(t, "plain", plain(5, 1), 4)
	}
	kprobes.UnregisterKprobes([]*kprobes.Kprobe{a, &j.KP, b})
	suites.Equal(t, "jprobe handlers", n, 10)
	suites.Equal(t, "pre-handlers", pre, 20)
	suites.Equal(t, "post-handlers", post, 10)
}

// returnsNormally forgets JprobeReturn.
func returnsNormally(t *suites.T) {
	n := 0
	j := kprobes.NewJprobe(plain, func(a, b int) int { n++; return 1234 })
	since := uint64(0)
	for r := range printk.Records() {
		since = r.Seq
	}
	t.Must(kprobes.RegisterJprobe(j))
	for i := range 10 {
		suites.Equal(t, "plain", plain(i, 1), i-1)
	}
	kprobes.UnregisterJprobe(j)
	reports := 0
	for r := range printk.Records() {
		if r.Seq > since && strings.Contains(string(r.Text()), "plain+0x0/") && strings.Contains(string(r.Text()), "without JprobeReturn") {
			reports++
		}
	}
	suites.Equal(t, "handlers", n, 10)
	suites.Equal(t, "reports", reports, 1)
	if l := j.KP.Ledger(); l.Handled != 10 || l.Unexplained() != 0 {
		t.Errorf("account %+v", l)
	}
}

func noEntry(t *suites.T) {
	var n int
	in, err := insn.Decode(text.Bytes(entry(plain), insn.MaxLen))
	t.Must(err)
	inside := counting(&n)
	inside.KP.Addr += uintptr(in.Len)
	noFunc := counting(&n)
	noFunc.Entry = 5
	var null func(a, b int) int
	both := counting(&n)
	both.KP.SymbolName = "sonde/ktest/suites/jumpers.plain"
	for name, j := range map[string]*kprobes.Jprobe{
		"second instruction": inside,
		"Entry no function":  noFunc,
		"Entry nil":          kprobes.NewJprobe(plain, null),
		"no function":        {Entry: plain},
		"symbol and address": both,
	} {
		if err := kprobes.RegisterJprobe(j); !errors.Is(err, syscall.EINVAL) {
			t.Errorf("%s: %v, want EINVAL", name, err)
		}
	}
	suites.Equal(t, "plain", plain(5, 1), 4)
	suites.Equal(t, "handlers", n, 0)
}

func allCPUs(t *suites.T) {
	const calls = 2000
	var n, wrong atomic.Uint64
	j := kprobes.NewJprobe(targets.Nine, func(a, b, c, d, e, f, g, h, i uint64) uint64 {
		n.Add(1)
		if b != a+1 || c != a+2 || i != a+8 {
			wrong.Add(1)
		}
		kprobes.JprobeReturn()
		return 0
	})
	t.Must(kprobes.RegisterJprobe(j))
	t.Together(func(int) {
		for k := range uint64(calls) {
			if targets.Nine(k, k+1, k+2, k+3, k+4, k+5, k+6, k+7, k+8) != 45*k+240 {
				t.Fatalf("Nine(%d...) is wrong", k)
			}
		}
	})
	kprobes.UnregisterJprobe(j)
	suites.Equal(t, "handlers", int(n.Load()), calls*cpu.Num())
	suites.Equal(t, "wrong arguments", int(wrong.Load()), 0)
}

func inHandler(t *suites.T) {
	var n, sum int
	j := counting(&n)
	t.Must(kprobes.RegisterJprobe(j))
	k := &kprobes.Kprobe{Addr: entry(targets.Leaf), PreHandler: func(*kprobes.Kprobe, *amd64.Regs) int {
		sum += plain(5, 2)
		return 0
	}}
	t.Must(kprobes.RegisterKprobe(k))
	for range 10 {
		targets.Leaf(1, 2)
	}
	kprobes.UnregisterKprobe(k)
	kprobes.UnregisterJprobe(j)
	suites.Equal(t, "handlers", n, 0)
	suites.Equal(t, "sum", sum, 30)
	suites.Equal(t, "NMissed", int(j.KP.NMissed()), 10)
}

func batch(t *suites.T) {
	var n int
	js := []*kprobes.Jprobe{
		kprobes.NewJprobe(texts, jTexts), counting(&n), counting(&n), // two on one function
	}
	slots, changed := kprobes.Slots().Used(), suites.TextChanged()
	if err := kprobes.RegisterJprobes(js); !errors.Is(err, syscall.EBUSY) {
		t.Errorf("%v, want EBUSY", err)
	}
	suites.Equal(t, "slots", kprobes.Slots().Used(), slots)
	suites.Equal(t, "text", suites.TextChanged(), changed)
	js[0].KP.Addr, js[1].KP.Addr = entry(texts), entry(plain)
	t.Must(kprobes.RegisterJprobes(js[:2]))
	plain(1, 1)
	kprobes.UnregisterJprobes(js)
	suites.Equal(t, "handlers", n, 1)
	suites.Equal(t, "text", suites.TextChanged(), changed)
	suites.Equal(t, "Addr of what was not registered", int(js[2].KP.Addr), 0)
}

func disabled(t *suites.T) {
	var n int
	j := counting(&n)
	if err := kprobes.DisableJprobe(j); !errors.Is(err, syscall.EINVAL) {
		t.Errorf("disable, not registered: %v", err)
	}
	t.Must(kprobes.RegisterJprobe(j))
	defer kprobes.UnregisterJprobe(j)
	plain(1, 1)
	t.Must(kprobes.DisableJprobe(j))
	plain(1, 1)
	suites.Equal(t, "handlers while disabled", n, 1)
	t.Must(kprobes.EnableJprobe(j))
	plain(1, 1)
	suites.Equal(t, "handlers when enabled again", n, 2)
}
