package program

import (
	"encoding/binary"
	"testing"
	"unsafe"

	"sonde/arch/amd64/trap"
	"sonde/bpf"
	"sonde/kernel/cpu/percpu"
)

// TestNear: small per-CPU arrays are at the CPUs' GS bases, as long as there is room, and are like others.
func TestNear(t *testing.T) {
	memory := make([]uint64, cpus()*trap.AreaSize/wordSize)
	percpu.Init(unsafe.Pointer(&memory[0]), cpus())
	defer percpu.Init(nil, 0)
	small := bpf.MapSpec{Type: bpf.PerCPUArray, KeySize: 4, ValueSize: 8, MaxEntries: 3}
	m, other := newMap(t, small), newMap(t, small)
	if m.near < trap.DataAt || m.near+64 > other.near || m.each != trap.AreaSize || m.Bytes() != 64*cpus() {
		t.Errorf("at %#x and %#x, %#x apart, %d bytes", m.near, other.near, m.each, m.Bytes())
	}
	value := make([]byte, 8)
	for cpu := range cpus() {
		if err := m.Update(cpu, key4(2), binary.LittleEndian.AppendUint64(nil, uint64(70+cpu)), 0); err != nil {
			t.Fatal(err)
		}
	}
	for cpu := range cpus() {
		if err := m.Lookup(cpu, key4(2), value); err != nil || value[0] != byte(70+cpu) || *(*uint64)(percpu.At(m.near+16, cpu)) != uint64(70+cpu) {
			t.Errorf("CPU %d: %v, %v", cpu, value, err)
		}
	}
	for _, s := range []bpf.MapSpec{
		{Type: bpf.PerCPUArray, KeySize: 4, ValueSize: 8, MaxEntries: mostNear/8 + 1},
		{Type: bpf.Array, KeySize: 4, ValueSize: 8, MaxEntries: 1},
		{Type: bpf.PerCPUHash, KeySize: 4, ValueSize: 8, MaxEntries: 1},
	} {
		if m := newMap(t, s); m.near != 0 {
			t.Errorf("a %v of %d is at %#x", s.Type, s.MaxEntries, m.near)
		}
	}
	rest, err := percpu.Take(trap.DataSize - 128)
	if err != nil {
		t.Fatal(err)
	}
	if m := newMap(t, small); m.near != 0 {
		t.Errorf("without room, at %#x", m.near)
	}
	percpu.Give(rest, trap.DataSize-128)
	at := m.near
	if m.Close(); true {
		again, err := NewMap(small)
		if err != nil || again.near != at {
			t.Errorf("closed at %#x, made at %#x", at, again.near)
		}
		if err := again.Lookup(1, key4(2), value); err != nil || value[0] != 0 {
			t.Errorf("a new map has %v, %v", value, err)
		}
		again.Close()
	}
}

// TestLow: small arrays are in the image, as long as there is room, and are like others; those of processes are not.
func TestLow(t *testing.T) {
	small := bpf.MapSpec{Type: bpf.Array, KeySize: 4, ValueSize: 16, MaxEntries: 4}
	inImage := func(m *Map) bool {
		at := uintptr(m.base) - uintptr(unsafe.Pointer(&lowPieces))
		return at < unsafe.Sizeof(lowPieces)
	}
	m, value := newMap(t, small), make([]byte, 16)
	if !inImage(m) || m.Bytes() != 64 {
		t.Errorf("at %p, %d bytes", m.base, m.Bytes())
	}
	want := binary.LittleEndian.AppendUint64(make([]byte, 8), 77)
	if err := m.Update(0, key4(3), want, 0); err != nil {
		t.Fatal(err)
	}
	if err := m.Lookup(0, key4(3), value); err != nil || string(value) != string(want) {
		t.Errorf("%v, %v", value, err)
	}
	owned, err := NewProcessMap(small, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer owned.Close()
	large := small
	large.MaxEntries++
	if inImage(owned) || inImage(newMap(t, large)) {
		t.Error("an array of a process, or a large one, is in the image")
	}
	rest := []*Map{}
	for range lowPieces {
		rest = append(rest, newMap(t, small))
	}
	if inImage(rest[len(rest)-1]) || !inImage(rest[len(rest)-2]) || uintptr(rest[0].base)%wordSize != 0 {
		t.Errorf("%d arrays are at %p to %p", len(rest)+1, rest[0].base, rest[len(rest)-1].base)
	}
	at := rest[0].base
	rest[0].Close()
	again := newMap(t, small)
	if again.base != at {
		t.Errorf("closed at %p, made at %p", at, again.base)
	}
	if err := again.Lookup(0, key4(3), value); err != nil || value[8] != 0 {
		t.Errorf("a new map has %v, %v", value, err)
	}
}

// TestPlacesNear: where each CPU's places begin stands at its GS base, for keys that fused programs look for; whatever a
// key's home, there are so many places as these look at.
func TestPlacesNear(t *testing.T) {
	memory := make([]uint64, cpus()*trap.AreaSize/wordSize)
	percpu.Init(unsafe.Pointer(&memory[0]), cpus())
	defer percpu.Init(nil, 0)
	spec := bpf.MapSpec{Type: bpf.PerCPUHash, KeySize: 16, ValueSize: 8, MaxEntries: 3}
	m := newMap(t, spec)
	for cpu := range cpus() {
		first := *(*unsafe.Pointer)(percpu.At(m.first, cpu))
		if first != unsafe.Pointer(m.entry(m.table(cpu), 0)) || m.each < tableSize+m.stride*uintptr(m.mask+fusedPlaces) {
			t.Errorf("CPU %d: %v, %d bytes", cpu, first, m.each)
		}
	}
	for _, size := range []uint32{4, 12, 40} {
		spec.KeySize = size
		if other := newMap(t, spec); other.first != 0 {
			t.Errorf("keys of %d bytes: at %#x", size, other.first)
		}
	}
	at := m.first
	m.Close()
	if off, err := percpu.Take(wordSize); err != nil || off != at {
		t.Errorf("%#x is not given back: %#x, %v", at, off, err)
	}
}
