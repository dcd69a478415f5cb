//go:build tamago

package kprobes

import (
	"sync/atomic"

	"sonde/arch/amd64"
	"sonde/arch/amd64/insn"
	"sonde/kernel/text"
	"sonde/kprobes"
	"sonde/ktest/suites"
	"sonde/ktest/suites/targets"
)

func init() {
	suites.Add("kprobes/offset_is_bytes_from_the_symbol", offsetFromSymbol)
}

// offsetFromSymbol has a probe on each instruction of a function by its offset, and checks where the
// breakpoint is, and where the handler is told that it is.
func offsetFromSymbol(t *suites.T) {
	fn := t.Function(pkg + "Leaf")
	offs, _ := boundaries(t, fn)
	if len(offs) < 3 {
		t.Fatalf("%s has %d instructions", fn.Name, len(offs))
	}
	for _, off := range offs {
		want := uintptr(fn.Addr) + off
		var ip atomic.Uint64
		k := arm(t, &kprobes.Kprobe{SymbolName: fn.Name, Offset: off, PreHandler: func(_ *kprobes.Kprobe, r *amd64.Regs) int {
			ip.Store(r.IP)
			return 0
		}})
		if b := text.Bytes(want, 1)[0]; k.Addr != want || b != insn.OpInt3 && b != insn.OpJmp {
			t.Errorf("offset %#x: Addr is %#x, want %#x, where there is %#x", off, k.Addr, want, b)
		}
		if n := targets.Leaf(1, 2); n != 5 {
			t.Errorf("offset %#x: Leaf returns %d", off, n)
		}
		kprobes.UnregisterKprobe(k)
		expect(t, k, 1, 0)
		if ip.Load() != uint64(want)+1 {
			t.Errorf("offset %#x: the handler sees IP %#x, want %#x", off, ip.Load(), want+1)
		}
	}
	clean(t)
}
