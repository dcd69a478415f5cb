//go:build tamago

package handlers

import (
	"sync/atomic"
	"unsafe"

	"sonde/arch/amd64"
	"sonde/kernel/irq"
	"sonde/kernel/text"
	"sonde/kprobes"
	"sonde/ktest/suites"
)

func init() {
	suites.Add("handlers/wake_a_thread_where_threads_are_switched", wakesInSwitch)
	suites.Add("handlers/abandoned_where_threads_are_switched", abandonedInSwitch)
}

// inSwitch makes a probe that calls f where a CPU has the lock of the scheduler of threads: when a thread
// goes to sleep, the clock is read.
func inSwitch(t *suites.T, f func()) *kprobes.Kprobe {
	sleep := t.Function("runtime.sondeSleep")
	return &kprobes.Kprobe{SymbolName: "runtime/goos.Nanotime", PreHandler: func(_ *kprobes.Kprobe, r *amd64.Regs) int {
		// Safe because: it is the first instruction, so SP points to the return address.
		if from := *(*uint64)(unsafe.Pointer(uintptr(r.SP))); from-sleep.Addr < sleep.Size {
			f()
		}
		return 0
	}}
}

// wakesInSwitch wakes a thread in such a handler. The CPU used to wait for itself.
func wakesInSwitch(t *suites.T) {
	var woken irq.Event
	var hits atomic.Int32
	k := inSwitch(t, func() {
		hits.Add(1)
		woken.Wake()
	})
	t.Must(kprobes.RegisterKprobe(k))
	defer kprobes.UnregisterKprobe(k)
	for range 100 {
		if !woken.Wait(int64(suites.Limit)) {
			t.Fatalf("not woken, after %d hits", hits.Load())
		}
	}
}

// abandonedInSwitch lets such a handler break the rules: a thread is woken that disarms its probe.
func abandonedInSwitch(t *suites.T) {
	since := suites.Mark()
	addr := uintptr(t.Function("runtime/goos.Nanotime").Addr)
	original := text.Bytes(addr, 1)[0]
	k := inSwitch(t, func() { sink = *nilWord })
	t.Must(kprobes.RegisterKprobe(k))
	defer kprobes.UnregisterKprobe(k)
	t.Until("the probe to be disarmed", func() bool { return text.Bytes(addr, 1)[0] == original })
	if n := suites.Logged(since, "the probe is disabled"); n != 1 {
		t.Errorf("reported %d times", n)
	}
}
