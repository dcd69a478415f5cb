package kprobes

import (
	"errors"
	"runtime"
	"syscall"
	"testing"
	"unsafe"

	"sonde/kernel/probe"
	"sonde/kprobes/machine"
	"sonde/kprobes/place"
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
	machine.This.Memory = 2 * places * (pointBytes + (cpus+1)*uint64(probe.AccountBytes))
	for n := range uintptr(places) {
		if err := room(); err != nil {
			t.Fatalf("%d places: %v", n, err)
		}
		addr := 0x1000 + 16*n
		points.Insert(&point{Place: place.Place{Addr: addr}})
		defer points.Remove(addr)
	}
	if err := room(); !errors.Is(err, syscall.ENOMEM) {
		t.Errorf("%d places: %v, want ENOMEM", places, err)
	}
}
