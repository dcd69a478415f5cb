package kprobes

import (
	"errors"
	"runtime"
	"syscall"
	"testing"
	"unsafe"

	"sonde/kprobes/machine"
	"sonde/probe/ledger"
)

// TestProbeIsAsLargeAsTheMachine: a probe used to have an account for each of 32
// CPUs, more than 4 KiB.
func TestProbeIsAsLargeAsTheMachine(t *testing.T) {
	const cpus, probes, most = 2, 1000, 768
	ks := make([]Kprobe, probes)
	bytes := allocated(func() {
		for i := range ks {
			ks[i].ledger.Open(cpus)
		}
	})
	runtime.KeepAlive(ks)
	if each := unsafe.Sizeof(Kprobe{}) + uintptr(bytes/probes); each > most {
		t.Errorf("a probe takes %d bytes on a machine of %d CPUs, more than %d", each, cpus, most)
	}
}

// allocated returns the bytes that f allocates.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// TestRoomIsHalfOfMemory: one more place is refused before there is no memory for it.
func TestRoomIsHalfOfMemory(t *testing.T) {
	const places, cpus = 10, 3
	defer func(m machine.Machine) { machine.This = m }(machine.This)
	machine.This.CPUs = cpus
	machine.This.Memory = 2 * places * (probeBytes + (cpus+1)*uint64(ledger.AccountBytes))
	for n := range places {
		if err := room(true); err != nil {
			t.Fatalf("%d probes: %v", n, err)
		}
		probes++
	}
	defer func() { probes -= places }()
	if err := room(false); err != nil {
		t.Errorf("another at a place that has one: %v", err)
	}
	if err := room(true); !errors.Is(err, syscall.ENOMEM) {
		t.Errorf("%d probes: %v, want ENOMEM", places, err)
	}
}
