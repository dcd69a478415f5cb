//go:build tamago

// Package kprobes tests kprobes: what a hit does, what is refused, and that
// nothing else changes, on live code under load.
package kprobes

import (
	"fmt"
	"reflect"

	"sonde/arch/amd64"
	"sonde/arch/amd64/insn"
	"sonde/kallsyms"
	"sonde/kernel/text"
	"sonde/kprobes"
	"sonde/ktest/suites"
)

// pkg is what the names of the targets begin with.
const pkg = "sonde/ktest/suites/targets."

// arm registers k or ends the case.
func arm(t *suites.T, k *kprobes.Kprobe) *kprobes.Kprobe {
	t.Must(kprobes.RegisterKprobe(k))
	return k
}

// on returns a probe with a pre-handler on a target's entry.
func on(t *suites.T, name string, f func(r *amd64.Regs)) *kprobes.Kprobe {
	return arm(t, &kprobes.Kprobe{
		SymbolName: pkg + name,
		PreHandler: func(_ *kprobes.Kprobe, r *amd64.Regs) int { f(r); return 0 },
	})
}

// nothing is a handler that does nothing.
func nothing(*amd64.Regs) {}

// boundaries returns the offsets of s's instructions.
func boundaries(t *suites.T, s kallsyms.Symbol) (offs []uintptr, list []insn.Inst) {
	code := text.Bytes(uintptr(s.Addr), uintptr(s.Size))
	_, err := insn.Walk(code, func(off int, in insn.Inst) bool {
		offs, list = append(offs, uintptr(off)), append(list, in)
		return true
	})
	if err != nil {
		t.Fatalf("%s: %v", s.Name, err)
	}
	return offs, list
}

// expect checks what k has counted.
func expect(t *suites.T, k *kprobes.Kprobe, hits, missed uint64) {
	name := fmt.Sprintf("%s+%#x", k.SymbolName, k.Offset)
	if k.SymbolName == "" {
		name = string(kallsyms.Symbolize(make([]byte, 0, 200), uint64(k.Addr)))
	}
	if k.Hits() != hits || k.NMissed() != missed {
		t.Errorf("%s: %d hits and %d missed, want %d and %d", name, k.Hits(), k.NMissed(), hits, missed)
	}
	if n := k.Ledger().Unexplained(); n != 0 {
		t.Errorf("%s: %d hits unexplained: %+v", name, n, k.Ledger())
	}
}

// clean checks that no trace of a probe is left.
func clean(t *suites.T) {
	if n := suites.TextChanged(); n != 0 {
		t.Errorf("%d bytes of text are not as they were", n)
	}
	if n := kprobes.Slots().Used(); n != 0 {
		t.Errorf("%d slots are in use", n)
	}
}

// codeOf returns where the function f begins.
func codeOf(f any) uintptr { return reflect.ValueOf(f).Pointer() }

// postNothing is a post-handler that does nothing.
func postNothing(*kprobes.Kprobe, *amd64.Regs, uint64) {}
