//go:build tamago

package kprobes

import (
	"errors"
	"strings"
	"syscall"
	"unsafe"

	"sonde/kallsyms"
	"sonde/kernel/mm"
	"sonde/kprobes"
	"sonde/ktest/suites"
	"sonde/ktest/suites/targets"
)

func init() {
	suites.Add("kprobes/refuses_what_makes_no_sense", refusesNonsense)
	suites.Add("kprobes/refuses_ambiguous_name", refusesAmbiguous)
	suites.Add("kprobes/refuses_every_other_byte", refusesEveryOtherByte)
	suites.Add("kprobes/refuses_instructions_that_cannot_move", refusesUnmovable)
	suites.Add("kprobes/refuses_functions_with_data_in_them", refusesData)
	suites.Add("kprobes/refuses_what_handles_traps", refusesTrapHandling)
	suites.Add("kprobes/registered_twice", registeredTwice)
	suites.Add("kprobes/unregistered_twice", unregisteredTwice)
}

var variable = 5

// refused checks that k is refused with errno and words, and left as it was.
func refused(t *suites.T, what string, k *kprobes.Kprobe, errno syscall.Errno, says string) {
	before := *k
	err := kprobes.RegisterKprobe(k)
	switch {
	case err == nil:
		t.Errorf("%s: accepted", what)
		kprobes.UnregisterKprobe(k)
	case !errors.Is(err, errno) || !strings.Contains(err.Error(), says):
		t.Errorf("%s: %v; want %v and %q", what, err, errno, says)
	case k.Addr != before.Addr || k.Flags != before.Flags:
		t.Errorf("%s: Addr %#x Flags %#x are now %#x %#x", what, before.Addr, before.Flags, k.Addr, k.Flags)
	}
}

func refusesNonsense(t *suites.T) {
	leaf := t.Function(pkg + "Leaf")
	addr := uintptr(leaf.Addr)
	for _, c := range []struct {
		what  string
		k     kprobes.Kprobe
		errno syscall.Errno
		says  string
	}{
		{"neither name nor address", kprobes.Kprobe{}, syscall.EINVAL, ""},
		{"both", kprobes.Kprobe{SymbolName: pkg + "Leaf", Addr: addr}, syscall.EINVAL, "both"},
		{"misspelt", kprobes.Kprobe{SymbolName: pkg + "Laef"}, syscall.ENOENT, pkg + "Leaf"},
		{"unknown", kprobes.Kprobe{SymbolName: "no/such.function"}, syscall.ENOENT, "no/such.function"},
		{"data", kprobes.Kprobe{SymbolName: "sonde/ktest/suites/kprobes.variable"}, syscall.EINVAL, "data"},
		{"offset at the end", kprobes.Kprobe{SymbolName: pkg + "Leaf", Offset: uintptr(leaf.Size)}, syscall.EINVAL, ""},
		{"offset far beyond", kprobes.Kprobe{SymbolName: pkg + "Leaf", Offset: 1 << 40}, syscall.EINVAL, ""},
		{"offset below", kprobes.Kprobe{SymbolName: pkg + "Leaf", Offset: ^uintptr(0)}, syscall.EINVAL, ""},
		{"address of data", kprobes.Kprobe{Addr: uintptr(unsafe.Pointer(&variable))}, syscall.EINVAL, ""},
		{"address of nothing", kprobes.Kprobe{Addr: 0x1000}, syscall.EINVAL, ""},
		{"address not canonical", kprobes.Kprobe{Addr: 1 << 62}, syscall.EINVAL, ""},
		{"address of a slot", kprobes.Kprobe{Addr: mm.Slots.Start}, syscall.EINVAL, ""},
		{"address in the ELF header", kprobes.Kprobe{Addr: mm.Text.Start}, syscall.EINVAL, ""},
		{"alias of text", kprobes.Kprobe{Addr: addr + mm.AliasOffset}, syscall.EINVAL, ""},
	} {
		refused(t, c.what, &c.k, c.errno, c.says)
	}
	clean(t)
	variable++
}

// refusesAmbiguous looks for two functions whose names end alike after a slash.
func refusesAmbiguous(t *suites.T) {
	first := map[string]uint64{}
	for s := range kallsyms.Kernel().Text {
		path, _, _ := strings.Cut(s.Name, "[")
		tail := s.Name[strings.LastIndexByte(path, '/')+1:]
		if tail == s.Name {
			first[tail] = 0 // an exact name is never ambiguous
		}
		addr, seen := first[tail]
		if !seen {
			first[tail] = s.Addr
			continue
		}
		if addr != 0 && addr != s.Addr {
			refused(t, tail, &kprobes.Kprobe{SymbolName: tail}, syscall.EINVAL, s.Name)
			return
		}
	}
	t.Errorf("no two functions of this kernel have names that end alike")
}

// refusesEveryOtherByte tries each byte of a function: only where an
// instruction begins may a breakpoint be.
func refusesEveryOtherByte(t *suites.T) {
	t.OneProcessor()
	for _, name := range []string{"Leaf", "Medium", "Switch"} {
		fn := t.Function(pkg + name)
		offs, _ := boundaries(t, fn)
		begins := map[uintptr]bool{}
		for _, off := range offs {
			begins[off] = true
		}
		for off := range uintptr(fn.Size) {
			k := &kprobes.Kprobe{SymbolName: pkg + name, Offset: off}
			if !begins[off] {
				refused(t, name, k, syscall.EILSEQ, "")
				continue
			}
			t.Must(kprobes.RegisterKprobe(k))
			if off > 0 && !begins[off-1] { // a probe next to it changes nothing
				refused(t, name, &kprobes.Kprobe{SymbolName: pkg + name, Offset: off - 1}, syscall.EILSEQ, "")
			}
			kprobes.UnregisterKprobe(k)
		}
	}
	clean(t)
}

func refusesUnmovable(t *suites.T) {
	fn := t.Containing(targets.Refused.Entry)
	offs, list := boundaries(t, fn)
	for i, off := range offs[:len(offs)-1] { // the last is its RET
		k := &kprobes.Kprobe{Addr: targets.Refused.Entry + off}
		k.PostHandler = postNothing // so that it must be stepped
		refused(t, list[i].Flow.String(), k, syscall.EILSEQ, "")
	}
	clean(t)
}

func refusesData(t *suites.T) {
	for off := range uintptr(5) {
		refused(t, "data in text", &kprobes.Kprobe{Addr: targets.Data.Entry + off}, syscall.EILSEQ, "")
	}
}

// refusesTrapHandling: a breakpoint in these would never end.
func refusesTrapHandling(t *suites.T) {
	for _, name := range []string{
		"sonde/arch/amd64/trap.entry", "sonde/arch/amd64/trap.entryBP", "sonde/arch/amd64/trap.entryDB",
		"sonde/arch/amd64/trap.save", "sonde/arch/amd64/trap.restore",
		"sonde/kprobes.onBreakpoint", "sonde/kprobes.reenter", "sonde/kprobes.(*Kprobe).callSpecial",
		"sonde/kprobes.RegisterKprobe", "sonde/kernel/text.(*Batch).Commit",
		"runtime.sondeDispatch", "runtime.SondeTick",
	} {
		if _, err := kallsyms.Kernel().Addr(name); err != nil {
			t.Logf("%v", err) // inlined, or it has another name by now
			continue
		}
		refused(t, name, &kprobes.Kprobe{SymbolName: name}, syscall.EINVAL, "may not be probed")
	}
	n := 0
	for addr := range kprobes.Blacklisted() {
		s := t.Containing(uintptr(addr))
		if s.Size == 0 {
			continue
		}
		n++
		refused(t, s.Name, &kprobes.Kprobe{Addr: uintptr(addr)}, syscall.EINVAL, "")
	}
	t.Logf("%d functions may not be probed", n)
	clean(t)
}

func registeredTwice(t *suites.T) {
	k := on(t, "Leaf", nothing)
	if err := kprobes.RegisterKprobe(k); !errors.Is(err, syscall.EEXIST) {
		t.Errorf("%v, want EEXIST", err)
	}
	targets.Leaf(1, 2)
	expect(t, k, 1, 0)
	kprobes.UnregisterKprobe(k)
	clean(t)
}

func unregisteredTwice(t *suites.T) {
	k := on(t, "Leaf", nothing)
	for range 3 {
		kprobes.UnregisterKprobe(k)
		if k.Addr != 0 {
			t.Errorf("Addr is %#x after unregistering", k.Addr)
		}
	}
	never := &kprobes.Kprobe{Addr: 0x1234}
	kprobes.UnregisterKprobe(never)
	if never.Addr != 0 {
		t.Errorf("Addr of a probe that was never registered is %#x", never.Addr)
	}
	clean(t)
}
