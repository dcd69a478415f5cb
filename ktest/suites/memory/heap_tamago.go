//go:build tamago

package memory

import (
	"runtime"
	"runtime/debug"
	"unsafe"

	"sonde/kernel/mm"
	"sonde/ktest/suites"
)

func init() {
	suites.Add("memory/new_memory_is_zero", newMemoryIsZero)
	suites.Add("memory/every_byte_is_one_of_its_own", everyByteItsOwn)
	suites.Add("memory/heap_grows_from_its_base", growsFromItsBase)
}

const megabyte = 1 << 20

// fill allocates n MiB in pieces of size bytes and calls f for each.
func fill(n, size int, f func(i int, piece []uint64)) (all [][]uint64) {
	for i := range n * megabyte / size {
		p := make([]uint64, size/8)
		f(i, p)
		all = append(all, p)
	}
	return all
}

// newMemoryIsZero: since Go 1.26 the runtime relies on the system to clear what it gave back with
// madvise. The thread shim's madvise once did nothing, and new objects had the contents of dead
// ones.
func newMemoryIsZero(t *suites.T) {
	for _, size := range []int{48, 1 << 10, 32 << 10, megabyte} {
		for round := range 3 {
			fill(8, size, func(i int, p []uint64) {
				for j := range p {
					if p[j] != 0 {
						t.Fatalf("pieces of %d bytes, round %d: piece %d has %#x in word %d", size, round, i, p[j], j)
					}
					p[j] = 0xdddddddddddddddd
				}
			})
			debug.FreeOSMemory()
		}
	}
}

// everyByteItsOwn fills half of the machine's memory with numbers and reads
// them back: no two addresses are the same memory, and all of it is there.
func everyByteItsOwn(t *suites.T) {
	runtime.GC()
	half := int(mm.Usable / 2 / megabyte)
	all := fill(half, megabyte, func(i int, p []uint64) {
		for j := range p {
			p[j] = uint64(i)<<32 | uint64(j)
		}
	})
	for i, p := range all {
		for j := range p {
			if p[j] != uint64(i)<<32|uint64(j) {
				t.Fatalf("%p holds %#x, want %#x", &p[j], p[j], uint64(i)<<32|uint64(j))
			}
		}
	}
	all = nil
	debug.FreeOSMemory()
}

// growsFromItsBase: since Go 1.26 the runtime begins at a random address. None of those is here, so
// that it took what came, from the end of the memory; and of 4,096 boots one failed.
func growsFromItsBase(t *suites.T) {
	all := fill(8, 1<<10, func(int, []uint64) {})
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	end := mm.Heap.Start + uintptr(m.HeapSys)
	for _, p := range all {
		if at := uintptr(unsafe.Pointer(&p[0])); at < mm.Heap.Start || at >= end {
			t.Fatalf("%p is not in the first %d bytes of the heap's memory, which begins at %#x", &p[0], m.HeapSys, mm.Heap.Start)
		}
	}
}
