//go:build tamago

package control

import (
	"errors"
	"fmt"
	"syscall"

	"sonde/kernel/module"
	"sonde/kprobes"
	"sonde/ktest/suites"
)

func init() {
	suites.Add("control/group_is_registered_whole_or_not_at_all", groupWhole)
	suites.Add("control/group_is_unregistered_but_for_what_is_not_registered", groupSkips)
	suites.Add("control/one_can_be_disabled_and_enabled", disableOne)
	suites.Add("control/what_is_not_registered_cannot_be_toggled", toggleUnregistered)
	suites.Add("control/registering_twice_is_refused", registerTwice)
	suites.Add("control/unregistering_twice_clears_addr", unregisterTwice)
	suites.Add("control/symbol_and_address_are_exclusive", bothAndNeither)
	suites.Add("control/module_takes_its_probes_along", moduleUnload)
	suites.Add("control/everything_is_as_before", asBefore)
}

// state is what a failed registration must not change.
func state() string {
	return fmt.Sprintf("%d slots, %d bytes of text", kprobes.Slots().Used(), suites.TextChanged())
}

// groupWhole puts the bad probe at each place of the group.
func groupWhole(t *suites.T) {
	for place := range 4 {
		bad := kprobeOn(one)
		bad.SymbolName = "sonde/ktest/suites/control.one" // and an address
		group := []*kprobes.Kprobe{kprobeOn(one), kprobeOn(two), kprobeOn(three)}
		mixed := append(append(append([]*kprobes.Kprobe{}, group[:place]...), bad), group[place:]...)
		before := state()
		if err := kprobes.RegisterKprobes(mixed); !errors.Is(err, syscall.EINVAL) {
			t.Errorf("bad at %d: %v", place, err)
		}
		suites.Equal(t, "after the refusal", state(), before)
		expectList(t)
		one(1)
		two(1)
		three(1)
		for i, k := range group {
			suites.Equal(t, "hits", fmt.Sprint(k.Hits()), "0")
			k.Addr = entry([]any{one, two, three}[i])
			if err := kprobes.DisableKprobe(k); !errors.Is(err, syscall.EINVAL) {
				t.Errorf("bad at %d: probe %d is still registered: %v", place, i, err)
			}
		}
		t.Must(kprobes.RegisterKprobes(group))
		expectList(t, "k one+0x0", "k two+0x0", "k three+0x0")
		kprobes.UnregisterKprobes(group)
		suites.Equal(t, "at the end", state(), before)
	}
}

// groupSkips unregisters a group some of which never was registered.
func groupSkips(t *suites.T) {
	before := state()
	group := []*kprobes.Kprobe{kprobeOn(one), kprobeOn(two), kprobeOn(three), kprobeOn(one)}
	t.Must(kprobes.RegisterKprobe(group[1]))
	t.Must(kprobes.RegisterKprobe(group[3]))
	expectList(t, "k two+0x0", "k one+0x0")
	kprobes.UnregisterKprobes(group)
	expectList(t)
	suites.Equal(t, "at the end", state(), before)
	suites.Equal(t, "Addr of those that were never registered", fmt.Sprint(group[0].Addr, group[2].Addr), "0 0")

	rps := []*kprobes.Kretprobe{returnOf(one), returnOf(two)}
	t.Must(kprobes.RegisterKretprobe(rps[1]))
	kprobes.UnregisterKretprobes(rps)
	suites.Equal(t, "Addr of the return probe that was never registered", fmt.Sprint(rps[0].KP.Addr), "0")
	suites.Equal(t, "at the very end", state(), before)
}

// disableOne sets two probes on a function: only one of them is disabled.
func disableOne(t *suites.T) {
	before := state()
	a, b := kprobeOn(one), kprobeOn(one)
	b.Flags = kprobes.FlagDisabled // from the beginning
	t.Must(kprobes.RegisterKprobes([]*kprobes.Kprobe{a, b}))
	step := func(what string, err error, wantA, wantB int) {
		t.Must(err)
		one(1)
		suites.Equal(t, what, fmt.Sprint(a.Hits(), b.Hits()), fmt.Sprint(wantA, wantB))
	}
	step("b disabled at registration", nil, 1, 0)
	step("b enabled", kprobes.EnableKprobe(b), 2, 1)
	step("a disabled", kprobes.DisableKprobe(a), 2, 2)
	step("a disabled again", kprobes.DisableKprobe(a), 2, 3)
	step("both disabled", kprobes.DisableKprobe(b), 2, 3)
	suites.Equal(t, "with both disabled nothing is armed", fmt.Sprint(suites.TextChanged()), "0")
	step("a enabled", kprobes.EnableKprobe(a), 3, 3)
	kprobes.UnregisterKprobes([]*kprobes.Kprobe{a, b})
	suites.Equal(t, "at the end", state(), before)
	for _, k := range []*kprobes.Kprobe{a, b} {
		if k.Ledger().Unexplained() != 0 {
			t.Errorf("account %+v", k.Ledger())
		}
	}
}

func toggleUnregistered(t *suites.T) {
	k, rp, j := kprobeOn(one), returnOf(two), jumperOnThree()
	try := func(when string) {
		for i, err := range []error{kprobes.DisableKprobe(k), kprobes.EnableKprobe(k), kprobes.DisableKretprobe(rp),
			kprobes.EnableKretprobe(rp), kprobes.DisableJprobe(j), kprobes.EnableJprobe(j)} {
			if !errors.Is(err, syscall.EINVAL) {
				t.Errorf("%s, %d: %v, want EINVAL", when, i, err)
			}
		}
	}
	try("never registered")
	t.Must(kprobes.RegisterKprobe(k))
	t.Must(kprobes.RegisterKretprobe(rp))
	t.Must(kprobes.RegisterJprobe(j))
	kprobes.UnregisterKprobe(k)
	kprobes.UnregisterKretprobe(rp)
	kprobes.UnregisterJprobe(j)
	try("no longer registered")
}

func registerTwice(t *suites.T) {
	k := kprobeOn(one)
	t.Must(kprobes.RegisterKprobe(k))
	if err := kprobes.RegisterKprobe(k); !errors.Is(err, syscall.EEXIST) {
		t.Errorf("again: %v, want EEXIST", err)
	}
	if err := kprobes.RegisterKprobes([]*kprobes.Kprobe{kprobeOn(two), k}); !errors.Is(err, syscall.EEXIST) {
		t.Errorf("again, in a group: %v, want EEXIST", err)
	}
	expectList(t, "k one+0x0")
	one(1)
	suites.Equal(t, "hits", fmt.Sprint(k.Hits()), "1")
	kprobes.UnregisterKprobe(k)
	double := kprobeOn(one)
	if err := kprobes.RegisterKprobes([]*kprobes.Kprobe{double, double}); !errors.Is(err, syscall.EEXIST) {
		t.Errorf("twice in one group: %v, want EEXIST", err)
	}
	expectList(t)
}

func unregisterTwice(t *suites.T) {
	before := state()
	k, other := kprobeOn(one), kprobeOn(one)
	t.Must(kprobes.RegisterKprobes([]*kprobes.Kprobe{k, other}))
	kprobes.UnregisterKprobe(k)
	k.Addr = entry(one)
	kprobes.UnregisterKprobe(k)
	suites.Equal(t, "Addr", fmt.Sprint(k.Addr), "0")
	one(1)
	suites.Equal(t, "hits of the other probe", fmt.Sprint(other.Hits()), "1")
	kprobes.UnregisterKprobes([]*kprobes.Kprobe{other, other})
	suites.Equal(t, "at the end", state(), before)
}

func bothAndNeither(t *suites.T) {
	const name = "sonde/ktest/suites/control.one"
	for what, c := range map[string]struct {
		k   kprobes.Kprobe
		err error
	}{
		"both":               {kprobes.Kprobe{SymbolName: name, Addr: entry(one)}, syscall.EINVAL},
		"neither":            {kprobes.Kprobe{}, syscall.EINVAL},
		"unknown symbol":     {kprobes.Kprobe{SymbolName: "no.such"}, syscall.ENOENT},
		"beyond the end":     {kprobes.Kprobe{SymbolName: name, Offset: 1 << 20}, syscall.EINVAL},
		"data":               {kprobes.Kprobe{Addr: entry(&cases)}, syscall.EINVAL},
		"inside instruction": {kprobes.Kprobe{SymbolName: name, Offset: 1}, syscall.EILSEQ},
	} {
		before := state()
		if err := kprobes.RegisterKprobe(&c.k); !errors.Is(err, c.err) {
			t.Errorf("%s: %v, want %v", what, err, c.err)
		}
		suites.Equal(t, what, state(), before)
	}
	k := &kprobes.Kprobe{SymbolName: name}
	t.Must(kprobes.RegisterKprobe(k))
	suites.Equal(t, "Addr of a symbol", fmt.Sprint(k.Addr), fmt.Sprint(entry(one)))
	kprobes.UnregisterKprobe(k)
	t.Must(kprobes.RegisterKprobe(k)) // the symbol is resolved again
	kprobes.UnregisterKprobe(k)
}

// cases is data.
var cases int

// moduleUnload loads and unloads the example modules.
func moduleUnload(t *suites.T) {
	before := state()
	list := len(read(t, "list"))
	for _, name := range []string{"kprobe_example", "jprobe_example", "kretprobe_example"} {
		args := map[string][]string{
			"kprobe_example":    {"symbol=sonde/ktest/suites/control.one"},
			"kretprobe_example": {"func=sonde/ktest/suites/control.two"},
		}[name]
		t.Must(module.Insmod(name, args...))
		if n := len(read(t, "list")); n != list+1 {
			t.Errorf("%s: %d probes, want %d", name, n, list+1)
		}
		one(1)
		two(1)
		t.Must(module.Rmmod(name))
		suites.Equal(t, name+" unloaded", state(), before)
		if n := len(read(t, "list")); n != list {
			t.Errorf("%s unloaded: %d probes, want %d", name, n, list)
		}
	}
}

// asBefore is last: nothing of all this is left.
func asBefore(t *suites.T) {
	suites.Equal(t, "text", fmt.Sprint(suites.TextChanged()), "0")
	expectList(t)
	suites.Equal(t, "enabled", textOf(t, "enabled"), "1")
	if !kprobes.Enabled() {
		t.Errorf("SetEnabled was called")
	}
}
