//go:build tamago

package grace

import (
	"errors"
	"sync/atomic"
	"syscall"

	"sonde/kernel/grace"
	"sonde/kprobes"
	"sonde/ktest/suites"
	"sonde/optprobe"
)

func init() {
	suites.Add("grace/slot_is_not_reused_while_a_cpu_is_in_it", slotReuse)
	suites.Add("grace/detour_is_not_reused_while_a_cpu_is_in_it", detourReuse)
	suites.Add("grace/log_says_once_that_no_detour_is_left", noDetour)
	suites.Add("grace/snapshot_has_passed_after_a_wait", snapshot)
}

// second is the offset of the second instruction of plain.
const second = 2

// snapshot takes one before each of many waits, which often need no other goroutine. What was freed before a wait is
// free after it.
func snapshot(t *suites.T) {
	for range 1000 {
		s := grace.Now()
		grace.Synchronize()
		if !s.Passed() {
			t.Fatalf("not passed")
		}
	}
}

// slotReuse holds a CPU in the last slot there is, and wants that for another
// probe. The pre-handler runs with interrupts off; IRETQ leads to the slot and
// turns them on.
func slotReuse(t *suites.T) {
	optimization(t, "0")
	defer optimization(t, "1")
	h, end := newHold(t)
	defer end()
	addr, twinAddr, _, _ := places()
	k := &kprobes.Kprobe{Addr: addr + second, PreHandler: holding}
	twin := &kprobes.Kprobe{Addr: twinAddr + second, PreHandler: nothing}
	t.Must(kprobes.RegisterKprobe(k))
	defer drain(kprobes.Slots())()
	ip := h.call(t, plain)
	if slot, owner := kprobes.Slots().Find(ip); ip != slot || owner != k.Addr {
		t.Fatalf("the CPU is held at %#x, not in the slot of %#x", ip, k.Addr)
	}
	kprobes.UnregisterKprobe(k)
	if err := kprobes.RegisterKprobe(twin); !errors.Is(err, syscall.ENOMEM) {
		t.Errorf("while a CPU is in the last slot: %v, want ENOMEM", err)
	}
	h.release(t)
	grace.Synchronize()
	if !t.Failed() {
		t.Must(kprobes.RegisterKprobe(twin))
	}
	if _, owner := kprobes.Slots().Find(ip); owner != twin.Addr {
		t.Errorf("the slot is not used again when no CPU is in it")
	}
	clean(t, twin, 0)
	clean(t, k, 1)
}

// detourReuse does the same with a detour.
func detourReuse(t *suites.T) {
	h, end := newHold(t)
	defer end()
	_, _, addr, twinAddr := places()
	k := &kprobes.Kprobe{Addr: addr, PreHandler: nothing}
	twin := &kprobes.Kprobe{Addr: twinAddr, PreHandler: nothing}
	t.Must(kprobes.RegisterKprobe(k))
	t.Must(optprobe.Optimize())
	if !kprobes.Optimized(addr) {
		kprobes.UnregisterKprobe(k)
		t.Fatalf("not optimized")
	}
	refill := drain(kprobes.Detours())
	defer func() { refill() }()
	ip := h.callDeaf(t)
	if _, owner := kprobes.Detours().Find(ip); !kprobes.Detours().Contains(ip) || owner != addr {
		t.Errorf("the CPU is held at %#x, not in the detour of %#x", ip, addr)
	}
	kprobes.UnregisterKprobe(k)
	t.Must(kprobes.RegisterKprobe(twin))
	// If a detour is made, the optimizer waits for the CPU before it returns.
	owner := func() uintptr { _, a := kprobes.Detours().Find(ip); return a }
	var looked atomic.Bool
	t.Go(func() { t.Must(optprobe.Optimize()); looked.Store(true) })
	until(t, "the optimizer to look", func() bool { return looked.Load() || owner() != addr })
	if owner() != addr {
		t.Errorf("the detour is used again while a CPU is in it")
	}
	h.release(t)
	grace.Synchronize()
	t.Must(optprobe.Optimize())
	if !kprobes.Optimized(twinAddr) || owner() != twinAddr {
		t.Errorf("the detour is not used again when no CPU is in it")
	}
	clean(t, twin, 0)
	clean(t, k, 1)
}

// noDetour wants several detours, again and again, when none is left: there may be thousands of probes.
func noDetour(t *suites.T) {
	_, _, addr, twinAddr := places()
	k := &kprobes.Kprobe{Addr: addr, PreHandler: nothing}
	twin := &kprobes.Kprobe{Addr: twinAddr, PreHandler: nothing}
	refill, since := drain(kprobes.Detours()), suites.Mark()
	t.Must(kprobes.RegisterKprobe(k))
	t.Must(kprobes.RegisterKprobe(twin))
	for range 3 {
		t.Must(optprobe.Optimize())
	}
	suites.Equal(t, "messages", suites.Logged(since, "detours are in use"), 1)
	refill()
	t.Must(optprobe.Optimize())
	suites.Equal(t, "optimized", kprobes.Optimized(addr) && kprobes.Optimized(twinAddr), true)
	kprobes.UnregisterKprobe(k)
	clean(t, twin, 0)
	clean(t, k, 0)
}
