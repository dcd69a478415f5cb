package percpu

import (
	"errors"
	"syscall"
	"testing"
	"unsafe"

	"sonde/arch/amd64/trap"
)

// machine makes the memory of CPUs, and ends that.
func machine(t *testing.T, cpus int) {
	memory := make([]uint64, cpus*trap.AreaSize/word)
	Init(unsafe.Pointer(&memory[0]), cpus)
	t.Cleanup(func() {
		Init(nil, 0)
		clear(area.used[:])
		area.free = 0
	})
}

func at(off Offset, cpu int) *uint64 { return (*uint64)(At(off, cpu)) }

// TestWithoutCPUs: there is no memory before there are CPUs.
func TestWithoutCPUs(t *testing.T) {
	if off, err := Take(8); !errors.Is(err, syscall.ENOMEM) || off != 0 {
		t.Error(off, err)
	}
}

// TestTaken: what is taken is apart from all else, on each CPU; zero, whatever was there before; and at the same
// distance from the GS base.
func TestTaken(t *testing.T) {
	const cpus = 3
	machine(t, cpus)
	var offs []Offset
	for _, n := range []int{8, 1, 24, 8} {
		off, err := Take(n)
		if err != nil {
			t.Fatal(err)
		}
		for cpu := range cpus {
			if at := uintptr(At(off, cpu)) - uintptr(area.first); at != uintptr(cpu)*trap.AreaSize+uintptr(off) || off < trap.DataAt {
				t.Errorf("%d bytes of CPU %d are at %#x", n, cpu, at)
			}
		}
		offs = append(offs, off)
	}
	for i, n := range []Offset{8, 8, 24} {
		if offs[i+1] != offs[i]+n {
			t.Errorf("%d bytes at %#x, and %#x follows", n, offs[i], offs[i+1])
		}
	}
	for cpu := range cpus {
		*at(offs[1], cpu) = 7
	}
	Give(offs[1], 1)
	if off, err := Take(16); err != nil || off == offs[1] {
		t.Errorf("16 bytes at %#x, where 8 are free: %v", off, err)
	}
	off, err := Take(8)
	if err != nil || off != offs[1] {
		t.Errorf("taken again: %#x, not %#x: %v", off, offs[1], err)
	}
	for cpu := range cpus {
		if n := *at(off, cpu); n != 0 {
			t.Errorf("CPU %d has %d there", cpu, n)
		}
	}
}

// TestAllOfIt: each word can be had once, and again when it was given back.
func TestAllOfIt(t *testing.T) {
	machine(t, 1)
	seen := map[Offset]bool{}
	for range trap.DataSize / word {
		off, err := Take(word)
		if err != nil || seen[off] || off+word > trap.AreaSize {
			t.Fatalf("%d are taken: %#x, %v", len(seen), off, err)
		}
		seen[off] = true
	}
	if _, err := Take(1); !errors.Is(err, syscall.ENOMEM) {
		t.Error(err)
	}
	for off := range seen {
		Give(off, word)
	}
	if off, err := Take(trap.DataSize); err != nil || off != trap.DataAt {
		t.Errorf("all of it: %#x, %v", off, err)
	}
}
