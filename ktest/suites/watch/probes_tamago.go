//go:build tamago

package watch

import (
	"strings"
	"sync/atomic"
	"unsafe"

	"sonde/arch/amd64"
	"sonde/arch/amd64/debugreg"
	"sonde/kernel/cpu"
	"sonde/kernel/printk"
	"sonde/kprobes"
	"sonde/ktest/suites"
	"sonde/kwatch"
	"sonde/optprobe"
)

func init() {
	suites.Add("watch/access_in_a_step", inStep)
	suites.Add("watch/access_in_a_slot", inSlot)
	suites.Add("watch/access_in_a_detour", inDetour)
	suites.Add("watch/access_by_emulation", emulated)
	suites.Add("watch/access_in_a_probe_handler", inHandler)
	suites.Add("watch/execute_with_a_probe_there", executeProbed)
	suites.Add("watch/execute_what_a_jump_covers", executeUnderJump)
	suites.Add("watch/probe_in_a_watch_handler", probeInHandler)
	suites.Add("watch/bits_left_in_dr6", staleBits)
	suites.Add("watch/step_after_a_hit", stepAfterHit)
}

// probe registers a kprobe; post says whether it steps.
func probe(t *suites.T, addr uintptr, post bool) *kprobes.Kprobe {
	k := &kprobes.Kprobe{Addr: addr, PreHandler: func(*kprobes.Kprobe, *amd64.Regs) int { return 0 }}
	if post {
		k.PostHandler = func(*kprobes.Kprobe, *amd64.Regs, uint64) {}
	}
	t.Must(kprobes.RegisterKprobe(k))
	return k
}

const calls = 200

// watched calls f with word watched, and checks the result: a hit for each call, as if there were no
// probe.
func watched(t *suites.T, typ kwatch.Type, next func(ip uintptr) bool, f func()) {
	var s seen
	s.want = func(h *kwatch.Hit, _ *amd64.Regs) bool { return next(h.IP) && h.New == h.Old+1 }
	before := word
	reg := on(t, wordAt(), 8, typ, s.hit)
	for range calls {
		f()
	}
	l := off(t, reg)
	if s.n.Load() != calls || s.bad.Load() != 0 || l.Ledger.Missed() != 0 || word != before+calls {
		t.Errorf("%d hits of %d, %d bad, such as %+v, word %d more; %+v", s.n.Load(), calls, s.bad.Load(), s.hits[0], word-before, l.Ledger)
	}
}

// behindInc reports whether ip is after incWord's INCQ, which is all it has but a RET.
func behindInc(ip uintptr) bool { return ip > incAt && ip < incAt+10 && *code(ip) == 0xc3 }

func inStep(t *suites.T) {
	k := probe(t, incAt, true)
	watched(t, kwatch.Write, behindInc, incWord)
	watched(t, kwatch.ReadWrite, behindInc, incWord)
	if k.Hits() != 2*calls || k.NMissed() != 0 {
		t.Errorf("%d hits of the probe, %d missed", k.Hits(), k.NMissed())
	}
	kprobes.UnregisterKprobe(k)
}

func inSlot(t *suites.T) {
	defer optprobe.Optimization.Store(optprobe.Optimization.Get())
	optprobe.Optimization.Store(false)
	k := probe(t, incAt, false)
	watched(t, kwatch.Write, behindInc, incWord)
	if k.Hits() != calls || kprobes.Optimized(incAt) {
		t.Errorf("%d hits of the probe", k.Hits())
	}
	kprobes.UnregisterKprobe(k)
}

func inDetour(t *suites.T) {
	k := probe(t, pairAt, false)
	t.Must(optprobe.Optimize())
	if !kprobes.Optimized(pairAt) {
		t.Fatalf("it is not hit by a jump")
	}
	next := func(ip uintptr) bool { return ip > pairAt+5 && ip < pairAt+16 && *code(ip) == 0x83 } // ADDL
	watched(t, kwatch.Write, next, pair)
	if k.Hits() != calls {
		t.Errorf("%d hits of the probe", k.Hits())
	}
	kprobes.UnregisterKprobe(k)
}

// emulated: the kernel makes the access for the code.
func emulated(t *suites.T) {
	jmp := jumpAt
	for *code(jmp) != 0xff || *code(jmp + 1) != 0x21 { // JMP (CX); the address of target may have 0xff in it
		jmp++
	}
	var s seen
	var where [2]atomic.Uint64
	s.want = func(h *kwatch.Hit, _ *amd64.Regs) bool { where[(s.n.Load())&1].Store(uint64(h.IP)); return true }
	k := probe(t, jmp, false)
	reg := on(t, targetAt(), 8, kwatch.ReadWrite, s.hit)
	for range calls {
		jumpWord()
	}
	off(t, reg)
	kprobes.UnregisterKprobe(k)
	if s.n.Load() != 2*calls || k.Hits() != calls {
		t.Errorf("%d hits of %d; %d of the probe", s.n.Load(), 2*calls, k.Hits())
	}
	if a, b := where[0].Load(), where[1].Load(); a != uint64(jmp) || b != uint64(jmp)+2 {
		t.Errorf("the MOVQ ends at %#x, the emulated JMP at %#x; it is at %#x", a, b, jmp)
	}
}

// inHandler: what a probe's handler accesses is seen, too.
func inHandler(t *suites.T) {
	var s seen
	k := &kprobes.Kprobe{Addr: readAt, PreHandler: func(*kprobes.Kprobe, *amd64.Regs) int { word++; return 0 },
		PostHandler: func(*kprobes.Kprobe, *amd64.Regs, uint64) { word++ }}
	t.Must(kprobes.RegisterKprobe(k))
	reg := on(t, wordAt(), 8, kwatch.Write, s.hit)
	for range calls {
		readWord()
	}
	l := off(t, reg)
	kprobes.UnregisterKprobe(k)
	if s.n.Load() != 2*calls || k.Hits() != calls || l.Ledger.Missed() != 0 {
		t.Errorf("%d hits of %d; %d of the probe; %+v", s.n.Load(), 2*calls, k.Hits(), l.Ledger)
	}
}

// executeProbed: the same instruction is watched and has a breakpoint, or a jump.
func executeProbed(t *suites.T) {
	for _, post := range []bool{true, false} {
		k := probe(t, pairAt, post)
		if !post {
			t.Must(optprobe.Optimize())
		}
		var s seen
		s.want = func(h *kwatch.Hit, _ *amd64.Regs) bool { return h.IP == pairAt }
		reg := on(t, pairAt, 1, kwatch.Execute, s.hit)
		for range calls {
			pair()
		}
		off(t, reg)
		kprobes.UnregisterKprobe(k)
		if s.n.Load() != calls || s.bad.Load() != 0 || k.Hits() != calls {
			t.Errorf("post %v: %d hits, %d bad, %d of the probe; want %d", post, s.n.Load(), s.bad.Load(), k.Hits(), calls)
		}
	}
}

// executeUnderJump: what a jump covers is watched, before the jump comes or after.
func executeUnderJump(t *suites.T) {
	const inside = 2 // after XORL
	k := probe(t, pairAt, false)
	for _, first := range []bool{false, true} {
		var s seen
		s.want = func(h *kwatch.Hit, _ *amd64.Regs) bool { return h.IP == pairAt+inside }
		if first {
			kprobes.UnregisterKprobe(k)
		} else if t.Must(optprobe.Optimize()); !kprobes.Optimized(pairAt) {
			t.Fatalf("it is not hit by a jump")
		}
		reg := on(t, pairAt+inside, 1, kwatch.Execute, s.hit)
		if first {
			k = probe(t, pairAt, false)
		}
		before := k.Hits()
		for range calls {
			t.Must(optprobe.Optimize())
			pair()
		}
		if kprobes.Optimized(pairAt) {
			t.Errorf("first %v: a jump covers what is watched", first)
		}
		off(t, reg)
		if s.n.Load() != calls || s.bad.Load() != 0 || k.Hits()-before != calls {
			t.Errorf("first %v: %d hits of %d, %d bad; %d of the probe", first, s.n.Load(), calls, s.bad.Load(), k.Hits()-before)
		}
		if t.Must(optprobe.Optimize()); !kprobes.Optimized(pairAt) {
			t.Errorf("first %v: no jump comes afterwards", first)
		}
	}
	kprobes.UnregisterKprobe(k)
}

// probeInHandler: a watchpoint's handler hits a probe that steps, and what is watched.
func probeInHandler(t *suites.T) {
	k := probe(t, readAt, true)
	var s seen
	reg := on(t, wordAt(), 8, kwatch.ReadWrite, func(h *kwatch.Hit, r *amd64.Regs) {
		s.hit(h, r)
		readWord() // steps, and is a hit inside a handler
	})
	for range calls {
		incWord()
	}
	l := off(t, reg)
	kprobes.UnregisterKprobe(k)
	if s.n.Load() != calls || l.Ledger.Recursion != calls || l.Ledger.Entered != 2*calls || k.Hits() != calls {
		t.Errorf("%d hits; %+v; %d of the probe; want %d each", s.n.Load(), l.Ledger, k.Hits(), calls)
	}
}

// staleBits: neither a watchpoint nor a step takes what DR6 kept from an earlier #DB for its own.
func staleBits(t *suites.T) {
	var s seen
	k := probe(t, readAt, true)
	reg := on(t, wordAt(), 8, kwatch.Write, s.hit)
	other := on(t, arriveAt, 1, kwatch.Execute, s.hit)
	for range calls {
		dirty()
		readWord() // a step
		dirty()
		incWord() // a hit
		readWord()
	}
	before := strays(t)
	for range calls {
		readWord()
		incWord() // DR6 would still tell of the step
	}
	if n := strays(t) - before; n > 0 {
		t.Errorf("%d hits were taken for steps as well", n)
	}
	l := off(t, reg)
	if o := off(t, other); o.Ledger.Entered != 0 {
		t.Errorf("%d hits of what was not executed", o.Ledger.Entered)
	}
	kprobes.UnregisterKprobe(k)
	if l.Ledger.Entered != 2*calls || k.Hits() != 3*calls {
		t.Errorf("%d hits of %d, %d of the probe of %d", l.Ledger.Entered, 2*calls, k.Hits(), 3*calls)
	}
}

// strays returns how many messages the log has about debug traps that nothing takes.
func strays(t *suites.T) int {
	var log strings.Builder
	t.Must(printk.Dmesg(&log, printk.LevelDebug))
	return strings.Count(log.String(), "debug trap at ")
}

// lonely contains a page that has nothing else in it.
var lonely [3 * 4096]byte

// stepAfterHit: an instruction is hit, and then another one is stepped. QEMU used to tell of
// the hit in the step's #DB as well.
func stepAfterHit(t *suites.T) {
	var s seen
	addr := (uintptr(unsafe.Pointer(&lonely)) + 4095) &^ 4095
	p := (*uint64)(unsafe.Pointer(&lonely[addr-uintptr(unsafe.Pointer(&lonely))]))
	k := probe(t, pairAt, true)
	for _, typ := range []kwatch.Type{kwatch.ReadWrite, kwatch.Write} {
		reg := on(t, addr, 8, typ, s.hit)
		s.n.Store(0)
		for range calls {
			*p++
			pair()
		}
		if l := off(t, reg); s.n.Load() != calls || l.Ledger.Entered != calls {
			t.Errorf("%s: %d hits of %d; %+v", typ, s.n.Load(), calls, l.Ledger)
		}
	}
	kprobes.UnregisterKprobe(k)
	if k.Hits() != 2*calls {
		t.Errorf("%d hits of the probe, of %d", k.Hits(), 2*calls)
	}
}

// dirty sets bits in this CPU's DR6 for breakpoints that are off.
func dirty() {
	flags := cpu.IRQOff()
	debugreg.WriteDR6(debugreg.DR6_FIXED | debugreg.DR6_B2 | debugreg.DR6_B3)
	cpu.IRQRestore(flags)
}
