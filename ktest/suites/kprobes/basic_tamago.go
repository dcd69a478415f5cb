//go:build tamago

package kprobes

import (
	"bytes"
	"sync/atomic"
	"unsafe"

	"sonde/arch/amd64"
	"sonde/arch/amd64/insn"
	"sonde/kernel/notifier"
	"sonde/kernel/text"
	"sonde/kprobes"
	"sonde/ktest/suites"
	"sonde/ktest/suites/targets"
)

func init() {
	suites.Add("kprobes/handlers_are_called_once_per_call", oncePerCall)
	suites.Add("kprobes/handlers_get_probe_and_place", probeAndPlace)
	suites.Add("kprobes/breakpoint_replaces_one_byte", oneByte)
	suites.Add("kprobes/chain_gets_what_is_no_probes", chainGetsTheRest)
	suites.Add("kprobes/post_handler_sees_what_was_done", postSees)
	suites.Add("kprobes/by_address", byAddress)
	suites.Add("kprobes/several_in_order_of_registration", severalInOrder)
	suites.Add("kprobes/disabled_is_not_called", disabledIsNotCalled)
	suites.Add("kprobes/unregistered_is_not_called", unregisteredIsNotCalled)
	suites.Add("kprobes/all_or_none_are_registered", allOrNone)
	suites.Add("kprobes/everything_can_be_switched_off", switchedOff)
}

// oncePerCall covers each form of prologue.
func oncePerCall(t *suites.T) {
	const calls = 1000
	for _, f := range targets.Funcs() {
		var pre, post atomic.Uint64
		k := arm(t, &kprobes.Kprobe{
			SymbolName:  pkg + f.Name,
			PreHandler:  func(*kprobes.Kprobe, *amd64.Regs) int { pre.Add(1); return 0 },
			PostHandler: func(*kprobes.Kprobe, *amd64.Regs, uint64) { post.Add(1) },
		})
		rounds := calls/f.Calls + 1
		for range rounds {
			if got := f.Call(); got != f.Want {
				t.Errorf("%s returns %d, want %d", f.Name, got, f.Want)
				break
			}
		}
		kprobes.UnregisterKprobe(k)
		want := rounds * f.Calls
		expect(t, k, want, 0)
		if pre.Load() != want || post.Load() != want {
			t.Errorf("%s: %d calls of the pre-handler and %d of the post-handler, want %d", f.Name, pre.Load(), post.Load(), want)
		}
	}
	clean(t)
}

func probeAndPlace(t *suites.T) {
	var k kprobes.Kprobe
	var wrong, calls atomic.Uint32
	var ip, flags atomic.Uint64
	k = kprobes.Kprobe{
		SymbolName: pkg + "Leaf",
		PreHandler: func(p *kprobes.Kprobe, r *amd64.Regs) int {
			if p != &k || r.Vector != amd64.VEC_BP || r.IP != uint64(p.Addr)+1 {
				wrong.Add(1)
			}
			flags.Store(r.Flags)
			calls.Add(1)
			return 0
		},
		PostHandler: func(p *kprobes.Kprobe, r *amd64.Regs, f uint64) {
			if p != &k || f != 0 {
				wrong.Add(1)
			}
			ip.Store(r.IP)
		},
	}
	arm(t, &k)
	defer kprobes.UnregisterKprobe(&k)
	fn := t.Function(pkg + "Leaf")
	if k.Addr != uintptr(fn.Addr) || k.Addr != codeOf(targets.Leaf) {
		t.Errorf("Addr is %#x, Leaf is at %#x and %#x", k.Addr, fn.Addr, codeOf(targets.Leaf))
	}
	targets.Leaf(1, 2)
	if wrong.Load() != 0 || calls.Load() != 1 {
		t.Errorf("%d of %d calls got another probe, vector or IP", wrong.Load(), calls.Load())
	}
	if f := flags.Load(); f&amd64.RFLAGS_TF != 0 || f&amd64.RFLAGS_IF == 0 {
		t.Errorf("the handler sees flags %#x: want IF and not TF", f)
	}
	if got := ip.Load(); got <= uint64(k.Addr) || got > uint64(k.Addr)+15 {
		t.Errorf("the post-handler sees IP %#x, the probe is at %#x", got, k.Addr)
	}
}

// oneByte looks at the code of a probed function: INT3 in the first byte, nothing
// else changed, the instruction in a slot; and all as before afterwards.
func oneByte(t *suites.T) {
	addr := codeOf(targets.Leaf)
	before := bytes.Clone(text.Bytes(addr, 16))
	slots := kprobes.Slots().Used()
	k := arm(t, &kprobes.Kprobe{Addr: addr, PostHandler: postNothing})
	during := bytes.Clone(text.Bytes(addr, 16))
	used := kprobes.Slots().Used() - slots
	kprobes.UnregisterKprobe(k)
	if during[0] != insn.OpInt3 || !bytes.Equal(during[1:], before[1:]) || used != 1 {
		t.Errorf("probed, % x is % x, and %d slots are in use", before, during, used)
	}
	if after := text.Bytes(addr, 16); !bytes.Equal(after, before) {
		t.Errorf("unregistered, % x is % x", before, after)
	}
	clean(t)
}

// chainGetsTheRest adds a block to the chain of #BP, which must be asked about an
// INT3 of the code itself, and not about a probe's.
func chainGetsTheRest(t *suites.T) {
	var asked, stopped atomic.Uint64
	b := &notifier.Block{Name: "test", Priority: 1000, Call: func(r *amd64.Regs, _ uint64) notifier.Action {
		asked.Add(1)
		if r.IP == uint64(targets.Int3.Entry)+1 {
			stopped.Add(1)
			return notifier.Stop
		}
		return notifier.Next
	}}
	notifier.Die[amd64.VEC_BP].Register(b)
	defer notifier.Die[amd64.VEC_BP].Unregister(b)
	k := on(t, "Leaf", nothing)
	defer kprobes.UnregisterKprobe(k)
	const calls = 10
	for range calls {
		targets.Leaf(1, 2)
	}
	expect(t, k, calls, 0)
	if n := asked.Load(); n != 0 {
		t.Errorf("the chain was asked %d times about a probe's breakpoint", n)
	}
	if _, err := targets.Int3.Run(); err != nil {
		t.Errorf("%v", err)
	}
	if asked.Load() != 1 || stopped.Load() != 1 {
		t.Errorf("the chain was asked %d times about an INT3 that is no probe's, %d times at its place", asked.Load(), stopped.Load())
	}
}

// movAbs returns the shape that loads a constant into AX, whose first
// instruction is 10 bytes long.
func movAbs(t *suites.T) targets.Shape {
	for _, s := range targets.Shapes() {
		if s.Name == "movAbs" {
			return s
		}
	}
	t.Fatalf("there is no shape movAbs")
	return targets.Shape{}
}

func postSees(t *suites.T) {
	s := movAbs(t)
	var before, after, ip atomic.Uint64
	k := arm(t, &kprobes.Kprobe{
		Addr:        s.Entry,
		PreHandler:  func(_ *kprobes.Kprobe, r *amd64.Regs) int { before.Store(r.AX); return 0 },
		PostHandler: func(_ *kprobes.Kprobe, r *amd64.Regs, _ uint64) { after.Store(r.AX); ip.Store(r.IP) },
	})
	_, err := s.Run()
	kprobes.UnregisterKprobe(k)
	t.Must(err)
	const loaded = 0x123456789abcdef0
	if before.Load() == loaded || after.Load() != loaded {
		t.Errorf("AX is %#x before and %#x after, want %#x after", before.Load(), after.Load(), uint64(loaded))
	}
	if ip.Load() != uint64(s.Entry)+10 {
		t.Errorf("the post-handler sees IP %#x, want %#x", ip.Load(), s.Entry+10)
	}
}

func byAddress(t *suites.T) {
	addr := codeOf(targets.Leaf)
	k := arm(t, &kprobes.Kprobe{Addr: addr})
	targets.Leaf(1, 2)
	kprobes.UnregisterKprobe(k)
	expect(t, k, 1, 0)
	if k.Addr != addr {
		t.Errorf("Addr is %#x after unregistering, want %#x as given", k.Addr, addr)
	}
}

// severalInOrder makes five probes on one address note the order of their calls.
func severalInOrder(t *suites.T) {
	const n = 5
	var trail [2 * n]int32
	var at atomic.Int32
	var all []*kprobes.Kprobe
	for i := range int32(n) {
		k := &kprobes.Kprobe{
			SymbolName: pkg + "Leaf",
			PreHandler: func(*kprobes.Kprobe, *amd64.Regs) int { trail[at.Add(1)-1] = i; return 0 },
		}
		if i != 2 { // one without a post-handler
			k.PostHandler = func(*kprobes.Kprobe, *amd64.Regs, uint64) { trail[at.Add(1)-1] = 10 + i }
		}
		all = append(all, arm(t, k))
	}
	targets.Leaf(1, 2)
	if want := [2 * n]int32{0, 1, 2, 3, 4, 10, 11, 13, 14}; trail != want {
		t.Errorf("handlers were called in the order %v, want %v", trail, want)
	}
	for i, k := range all {
		at.Store(0)
		kprobes.UnregisterKprobe(k)
		targets.Leaf(1, 2) // the others continue
		expect(t, k, uint64(i+1), 0)
	}
	clean(t)
}

func disabledIsNotCalled(t *suites.T) {
	k := arm(t, &kprobes.Kprobe{SymbolName: pkg + "Leaf", Flags: kprobes.FlagDisabled})
	defer kprobes.UnregisterKprobe(k)
	if suites.TextChanged() != 0 {
		t.Errorf("a breakpoint is set for a disabled probe")
	}
	targets.Leaf(1, 2)
	expect(t, k, 0, 0)
	t.Must(kprobes.EnableKprobe(k))
	targets.Leaf(1, 2)
	expect(t, k, 1, 0)
	t.Must(kprobes.DisableKprobe(k))
	targets.Leaf(1, 2)
	expect(t, k, 1, 0)

	other := arm(t, &kprobes.Kprobe{SymbolName: pkg + "Leaf"})
	targets.Leaf(1, 2) // the point is armed again, for the other only
	kprobes.UnregisterKprobe(other)
	expect(t, other, 1, 0)
	if k.Hits() != 1 || k.Ledger().Disarmed != 1 {
		t.Errorf("%+v of the disabled probe: want 1 handled, 1 disarmed", k.Ledger())
	}
}

func unregisteredIsNotCalled(t *suites.T) {
	var calls atomic.Int32
	k := on(t, "Leaf", func(*amd64.Regs) { calls.Add(1) })
	for round := range int32(50) {
		targets.Leaf(1, 2)
		kprobes.UnregisterKprobe(k)
		targets.Leaf(1, 2)
		if calls.Load() != round+1 {
			t.Fatalf("round %d: %d calls", round, calls.Load())
		}
		clean(t)
		arm(t, k) // the same Kprobe again: counts begin at 0
		expect(t, k, 0, 0)
	}
	kprobes.UnregisterKprobe(k)
}

func allOrNone(t *suites.T) {
	good := []*kprobes.Kprobe{{SymbolName: pkg + "Leaf"}, {SymbolName: pkg + "Small"}}
	bad := &kprobes.Kprobe{SymbolName: pkg + "Leaf", Offset: 1 << 20}
	if err := kprobes.RegisterKprobes(append(good[:2:2], bad)); err == nil {
		t.Errorf("an impossible probe among others is accepted")
	}
	clean(t)
	t.Must(kprobes.RegisterKprobes(good))
	targets.Small(1)
	kprobes.UnregisterKprobes(good)
	expect(t, good[0], 2, 0)
	expect(t, good[1], 1, 0)
	clean(t)
}

func switchedOff(t *suites.T) {
	k := on(t, "Leaf", nothing)
	defer kprobes.UnregisterKprobe(k)
	kprobes.SetEnabled(false)
	off := suites.TextChanged()
	targets.Leaf(1, 2)
	expect(t, k, 0, 0)
	kprobes.SetEnabled(true)
	targets.Leaf(1, 2)
	expect(t, k, 1, 0)
	if off != 0 {
		t.Errorf("%d breakpoints remain when all are switched off", off)
	}
}

// word returns the qword at addr of the interrupted code's memory.
// Safe because: cases use it on the stack of the call they make.
func word(addr uint64) uint64 { return **(**uint64)(unsafe.Pointer(&addr)) }
