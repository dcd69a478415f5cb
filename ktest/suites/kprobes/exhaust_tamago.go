//go:build tamago

package kprobes

import (
	"errors"
	"io"
	"runtime"
	"slices"
	"syscall"

	"sonde/kallsyms"
	"sonde/kernel/mm"
	"sonde/kprobes"
	"sonde/ktest/suites"
)

func init() {
	suites.Add("kprobes/every_boundary_until_memory_is_short", untilShort)
}

// smallMachine is the memory, in bytes, up to which probes use it up in seconds.
const smallMachine = 128 << 20

// longFunction is the size of a function, in bytes, from which on it takes long: for each probe it
// is decoded from its beginning.
const longFunction = 1 << 10

// untilShort probes every instruction of the image, function by function, until a probe is refused.
// Without that the runtime runs out of memory, and the kernel ends. qemu/limits_test.go runs this
// case on a small machine.
func untilShort(t *suites.T) {
	if mm.RAM > smallMachine {
		t.Skipf("more than %d MiB of memory: it would take minutes", smallMachine>>20)
	}
	before := heap()
	ks, why := probeAll(t)
	kprobes.AwaitJumps() // detours take memory, too
	t.Logf("%d probes, %d of %d KiB in use: %v", len(ks), (heap()-before)>>10, mm.Usable>>10, why)
	if !errors.Is(why, syscall.ENOMEM) {
		t.Errorf("%d probes, then %v, want ENOMEM", len(ks), why)
	}
	second := &kprobes.Kprobe{Addr: ks[0].Addr}
	if err := kprobes.RegisterKprobe(second); err != nil {
		t.Errorf("a second probe at a place that is probed already: %v", err)
	}
	kprobes.UnregisterKprobe(second)
	if status := suites.Script(io.Discard, "cat /proc/kallsyms >/tmp/x && rm /tmp/x"); status != 0 {
		t.Errorf("the shell's status is %d when there is no room for another probe", status)
	}
	kprobes.UnregisterKprobes(ks)
	clean(t)
	n := uint64(len(ks))
	clear(ks)
	kprobes.AwaitJumps()
	t.Until("detours to be forgotten", func() bool { return kprobes.Slots().Reap()+kprobes.Detours().Reap() == 0 })
	if now := heap(); now > before+n*known {
		t.Errorf("%d KiB of heap before %d probes, %d after", before>>10, n, now>>10)
	}
}

// known is about how many bytes remain of each place that was probed: what the optimizer has found
// out about it, and its slot's entry in the pool. A probe is three times that.
const known = 320

// heap returns the bytes that live objects take.
func heap() uint64 {
	runtime.GC()
	runtime.GC() // what a finalizer or a pool still kept
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// probeAll probes every instruction that can be, of all functions, last ones first:
// the runtime's, which every case needs most, are in front. It returns why it ended.
func probeAll(t *suites.T) (all []*kprobes.Kprobe, why error) {
	var fns []kallsyms.Symbol
	for s := range kallsyms.Kernel().Text {
		fns = append(fns, s)
	}
	for _, fn := range slices.Backward(fns) {
		if fn.Size > longFunction || fn.Name == "main.tooSmall" { // that is a text, which stands in code
			continue
		}
		ks := ofFunction(t, fn)
		err := kprobes.RegisterKprobes(ks)
		if err == nil {
			all = append(all, ks...)
			continue
		}
		for _, k := range ks { // those before the one that is refused
			switch err := kprobes.RegisterKprobe(k); {
			case err == nil:
				all = append(all, k)
			case errors.Is(err, syscall.ENOMEM):
				return all, err
			case !errors.Is(err, syscall.EINVAL) && !errors.Is(err, syscall.EILSEQ):
				return all, err
			}
		}
	}
	return all, nil
}

// ofFunction returns a probe for each instruction of fn.
func ofFunction(t *suites.T, fn kallsyms.Symbol) (ks []*kprobes.Kprobe) {
	offs, _ := boundaries(t, fn)
	for _, off := range offs {
		ks = append(ks, &kprobes.Kprobe{Addr: uintptr(fn.Addr) + off})
	}
	return ks
}
