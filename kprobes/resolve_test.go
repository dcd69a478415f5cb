package kprobes

import (
	"syscall"
	"testing"

	"sonde/kprobes/machine"
)

// TestRegisterRefuses: each wrong place has its errno and its reason, and a refused
// probe, alone or behind others, changes nothing.
func TestRegisterRefuses(t *testing.T) {
	f := newFake(t)
	for _, c := range []struct {
		name  string
		k     Kprobe
		errno syscall.Errno
		why   string
	}{
		{"nothing", Kprobe{}, syscall.EINVAL, "neither SymbolName nor Addr"},
		{"both", Kprobe{SymbolName: "t.work", Addr: fakeText}, syscall.EINVAL, "both SymbolName and Addr"},
		{"no symbol", Kprobe{SymbolName: "t.none"}, syscall.ENOENT, "t.none"},
		{"data", Kprobe{SymbolName: "t.data"}, syscall.EINVAL, "is data"},
		{"behind the end", Kprobe{SymbolName: "t.trap", Offset: 4}, syscall.EINVAL, "has 0x4 bytes"},
		{"far behind the end", Kprobe{SymbolName: "t.trap", Offset: ^uintptr(0)}, syscall.EINVAL, "has 0x4 bytes"},
		{"not code", Kprobe{Addr: 0x1000}, syscall.EINVAL, "not an address of kernel text"},
		{"data's address", Kprobe{Addr: fakeText + 1<<16}, syscall.EINVAL, "not an address of kernel text"},
		{"blacklisted", Kprobe{SymbolName: "t.trap"}, syscall.EINVAL, "may not be probed: it handles traps"},
		{"in an instruction", Kprobe{SymbolName: "t.work", Offset: 1}, syscall.EILSEQ, "inside an instruction"},
		{"no code", Kprobe{SymbolName: "t.broken"}, syscall.EILSEQ, "does not decode to its end"},
		{"syscall", Kprobe{SymbolName: "t.fixed", Offset: 1}, syscall.EILSEQ, "it enters or leaves the kernel"},
		{"ud2", Kprobe{SymbolName: "t.fixed", Offset: 3}, syscall.EILSEQ, "it always faults"},
		{"popfw", Kprobe{SymbolName: "t.fixed", Offset: 5}, syscall.EILSEQ, "cannot be single-stepped"},
		{"post-handler", Kprobe{SymbolName: "t.system", Offset: 4, PostHandler: post}, syscall.EILSEQ, "which a post-handler needs"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f.t = t
			k, asked := c.k, c.k.Addr
			before := f.now()
			f.refused(before, RegisterKprobe(&k), c.errno, c.why)
			if k.Addr != asked || k.point != nil || k.Flags != 0 {
				t.Errorf("the probe has changed: %#x, %v, flags %#x", k.Addr, k.point, k.Flags)
			}
			first := at("t.work", 3)
			f.refused(before, RegisterKprobes([]*Kprobe{first, &k}), c.errno, c.why)
			if first.Addr != 0 || first.point != nil || first.Flags != 0 {
				t.Errorf("the one in front has changed: %#x, %v, flags %#x", first.Addr, first.point, first.Flags)
			}
			f.graceEnds()
		})
	}
	f.t = t
}

// TestAddressOrSymbol: a probe by address and one by symbol share a point; only
// what registering has filled in is cleared.
func TestAddressOrSymbol(t *testing.T) {
	f := newFake(t)
	byName, byAddr := at("t.work", 3), &Kprobe{Addr: addrOf(t, "t.work", 3), PreHandler: pre}
	want := byAddr.Addr
	f.must(byName, byAddr)
	if byName.Addr != want || byName.point != byAddr.point || points.Len() != 1 || machine.This.Slots.Used() != 1 {
		t.Errorf("%#x, %d points, %d slots", byName.Addr, points.Len(), machine.This.Slots.Used())
	}
	UnregisterKprobes([]*Kprobe{byName, byAddr})
	if byName.Addr != 0 || byAddr.Addr != want {
		t.Errorf("%#x and %#x when unregistered", byName.Addr, byAddr.Addr)
	}
}

// TestNoSlotWithinReach: of the way back, or of the operand. What cannot be copied
// has its slot taken back.
func TestNoSlotWithinReach(t *testing.T) {
	f := newFake(t)
	for _, c := range []struct {
		symbol string
		slots  uintptr
	}{{"t.work", 1 << 40}, {"t.low", fakeText + 1<<29}} {
		machine.This.Slots = poolAt(c.slots, 4)
		f.refused(f.now(), RegisterKprobe(at(c.symbol, 0)), syscall.EILSEQ, "too far away for a copy")
	}
	f.must(at("t.work", 0), at("t.branches", 0)) // the jump back reaches; emulated, it needs none
}
