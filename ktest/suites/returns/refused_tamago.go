//go:build tamago

package returns

import (
	"errors"
	"syscall"

	"sonde/arch/amd64/insn"
	"sonde/kallsyms"
	"sonde/kernel/text"
	"sonde/kprobes"
	"sonde/ktest/suites"
	"sonde/ktest/suites/targets"
)

func init() {
	suites.Add("returns/functions_that_switch_stacks_are_refused", switchersRefused)
	suites.Add("returns/what_is_no_entry_is_refused", noEntry)
	suites.Add("returns/registering_twice_is_refused", twice)
	suites.Add("returns/unregistering_twice_clears_addr", unregisterTwice)
	suites.Add("returns/batch_is_all_or_nothing", batch)
}

// refused checks that rp cannot be registered, for the reason given, and that
// the attempt leaves nothing.
func refused(t *suites.T, what string, rp *kprobes.Kretprobe, why error) {
	slots, changed := kprobes.Slots().Used(), suites.TextChanged()
	err := kprobes.RegisterKretprobe(rp)
	if !errors.Is(err, why) {
		t.Errorf("%s: %v, want %v", what, err, why)
	}
	if err == nil {
		kprobes.UnregisterKretprobe(rp)
	}
	if s, c := kprobes.Slots().Used(), suites.TextChanged(); s != slots || c != changed {
		t.Errorf("%s: slots %d->%d, text %d->%d", what, slots, s, changed, c)
	}
}

func switchersRefused(t *suites.T) {
	for _, name := range []string{"runtime.systemstack", "runtime.mcall", "runtime.gogo", "runtime.morestack",
		"runtime.asmcgocall.abi0", "runtime.goexit", "runtime.newstack", "runtime.mstart"} {
		rp := &kprobes.Kretprobe{Handler: nothing}
		rp.KP.SymbolName = name
		if _, err := kallsyms.Resolve(name); err != nil {
			rp.KP.SymbolName = name + ".abi0"
		}
		refused(t, rp.KP.SymbolName, rp, syscall.EINVAL)
	}
}

// second returns the offset of a function's second instruction.
func second(t *suites.T, f any) uintptr {
	in, err := insn.Decode(text.Bytes(entry(f), insn.MaxLen))
	t.Must(err)
	return uintptr(in.Len)
}

func noEntry(t *suites.T) {
	rp := on(targets.Small, nothing)
	rp.KP.Addr += second(t, targets.Small)
	refused(t, "second instruction", rp, syscall.EINVAL)

	rp = &kprobes.Kretprobe{Handler: nothing}
	rp.KP.SymbolName, rp.KP.Offset = "sonde/ktest/suites/targets.Small", second(t, targets.Small)
	refused(t, "symbol and offset", rp, syscall.EINVAL)

	rp = on(targets.Small, nothing)
	rp.KP.SymbolName = "sonde/ktest/suites/targets.Small"
	refused(t, "symbol and address", rp, syscall.EINVAL)

	refused(t, "neither", &kprobes.Kretprobe{Handler: nothing}, syscall.EINVAL)

	rp = &kprobes.Kretprobe{Handler: nothing}
	rp.KP.SymbolName = "no.such.function"
	refused(t, "no such symbol", rp, syscall.ENOENT)
}

func twice(t *suites.T) {
	rp := on(targets.Leaf, nothing)
	remove := register(t, rp)
	if err := kprobes.RegisterKretprobe(rp); !errors.Is(err, syscall.EEXIST) {
		t.Errorf("registered again: %v", err)
	}
	suites.Equal(t, "Leaf", targets.Leaf(2, 1), 7)
	suites.Equal(t, "Hits", rp.Hits(), 1)
	remove()
}

func unregisterTwice(t *suites.T) {
	rp := on(targets.Leaf, nothing)
	register(t, rp)()
	rp.KP.Addr = entry(targets.Leaf)
	kprobes.UnregisterKretprobe(rp)
	suites.Equal(t, "Addr after the second time", uint64(rp.KP.Addr), 0)
	suites.Equal(t, "Leaf", targets.Leaf(2, 1), 7)
}

// batch registers a batch with a refused probe in the middle: nothing of it stays.
func batch(t *suites.T) {
	bad := on(targets.Small, nothing)
	bad.KP.Addr += second(t, targets.Small)
	slots, changed := kprobes.Slots().Used(), suites.TextChanged()
	good := []*kprobes.Kretprobe{on(targets.Leaf, nothing), on(targets.Fib, nothing)}
	if err := kprobes.RegisterKretprobes([]*kprobes.Kretprobe{good[0], bad, good[1]}); !errors.Is(err, syscall.EINVAL) {
		t.Errorf("%v", err)
	}
	suites.Equal(t, "slots", uint64(kprobes.Slots().Used()), uint64(slots))
	suites.Equal(t, "text", uint64(suites.TextChanged()), uint64(changed))
	suites.Equal(t, "Leaf", targets.Leaf(2, 1), 7)
	suites.Equal(t, "hits of what was taken back", good[0].Hits(), 0)

	good[0].KP.Addr, good[1].KP.Addr = entry(targets.Leaf), entry(targets.Fib)
	t.Must(kprobes.RegisterKretprobes(good))
	targets.Leaf(2, 1)
	targets.Fib(1)
	suites.Equal(t, "hits of the first", good[0].Hits(), 1)
	suites.Equal(t, "hits of the second", good[1].Hits(), 1)
	kprobes.UnregisterKretprobes(good)
	suites.Equal(t, "text at the end", uint64(suites.TextChanged()), uint64(changed))
}
