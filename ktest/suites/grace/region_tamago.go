//go:build tamago

package grace

import (
	"errors"
	"slices"
	"sync/atomic"
	"time"
	"unsafe"

	"sonde/arch/amd64"
	"sonde/arch/amd64/msr"
	"sonde/arch/amd64/phys"
	"sonde/kprobes"
	"sonde/ktest/suites"
	"sonde/optprobe"
)

func init() {
	suites.Add("grace/jump_waits_for_a_cpu_that_will_come_back_into_the_region", cameBefore)
	suites.Add("grace/jump_is_not_written_under_a_cpu", standsInside)
}

// candidate returns that at addr, nil if there is none with a detour.
func candidate(addr uintptr) []kprobes.Candidate {
	list := kprobes.Candidates()
	i := slices.IndexFunc(list, func(c kprobes.Candidate) bool { return c.Addr == addr })
	if i < 0 || list[i].Detour == nil {
		return nil
	}
	return list[i : i+1]
}

// cameBefore holds a CPU in the slot of a probe that will get a jump. What
// stops the machine does not see it there; from the slot it would come back to
// the second byte of the jump.
func cameBefore(t *suites.T) {
	optimization(t, "0")
	defer optimization(t, "1")
	h, end := newHold(t)
	defer end()
	addr, _, _, _ := places()
	k := &kprobes.Kprobe{Addr: addr, PreHandler: holding}
	t.Must(kprobes.RegisterKprobe(k))
	ip := h.call(t, plain)
	if slot, owner := kprobes.Slots().Find(ip); ip != slot || owner != addr {
		t.Errorf("the CPU is held at %#x, not in the slot of %#x", ip, addr)
	}
	optimization(t, "1")
	jumped := func() bool { return kprobes.Optimized(addr) }
	until(t, "the detour", func() bool { return jumped() || candidate(addr) != nil })
	for end := time.Now().Add(300 * time.Millisecond); !jumped() && time.Now().Before(end); {
		time.Sleep(time.Millisecond) // an optimizer that does not wait is done by then
	}
	if jumped() {
		t.Errorf("there is a jump, and a CPU that will come back to its second byte")
		clean(t, k, 1) // before it does
		return
	}
	h.release(t)
	t.Must(optprobe.Optimize())
	if !jumped() {
		t.Errorf("there is no jump when no CPU is on the way")
	}
	clean(t, k, 1)
}

// stopPending is the bit of VecStop in its register of those that say which
// interrupts are waiting (Intel SDM vol. 3A, "Interrupt Request Register").
const stopPending = 1 << (amd64.VecStop & 31)

// requests returns that register, the same for each CPU: its own.
func requests() *atomic.Uint32 {
	const apicBase, request = 0x1b, 0x200
	p := phys.Direct(msr.Read(apicBase)&^0xfff) + request + amd64.VecStop/32*16
	return *(**atomic.Uint32)(unsafe.Pointer(&p)) // Safe because: it is mapped, uncached, for good
}

// standsInside makes the stop that would write a jump come when a CPU is past the
// first instruction of the region. It leaves out the grace period: a CPU that has
// passed a scheduling point is in no region.
func standsInside(t *suites.T) {
	_, end := newHold(t)
	defer end()
	_, _, addr, _ := places()
	k := &kprobes.Kprobe{Addr: addr, PreHandler: nothing}
	t.Must(kprobes.RegisterKprobe(k))
	t.Must(optprobe.Optimize())
	optimization(t, "0")
	defer optimization(t, "1")
	var entered atomic.Uint32
	var result atomic.Uint64
	t.Go(func() { result.Store(inside(&entered, requests())) })
	until(t, "interrupts to be off", func() bool { return entered.Load() != 0 })
	optimization(t, "1")
	list := candidate(addr)
	done, _, err := kprobes.Jump(list)
	if len(list) != 1 || !errors.Is(err, kprobes.ErrRetry) || done != 0 {
		t.Errorf("under a CPU: %d of %d jumps, %v", done, len(list), err)
	}
	until(t, "the call to return", func() bool { return result.Load() != 0 })
	if result.Load() != 1 {
		t.Errorf("the call returned %d, want 1", result.Load())
	}
	t.Must(optprobe.Optimize())
	if !kprobes.Optimized(addr) {
		t.Errorf("there is no jump when the CPU has left")
	}
	clean(t, k, 0)
}
