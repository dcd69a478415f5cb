//go:build tamago

package main

import (
	"unsafe"

	"sonde/kernel/cpu"
	"sonde/kernel/mm"
)

// Results of the memory check that the command line can ask for; for the log.
var testedPages, wrongPages int

// testMemory writes the heap's memory and reads it back. A page of 2 MiB with a difference is
// replaced by the last page of the heap, and not used.
//
// Context: before the runtime, on the kernel's tables.
func testMemory() {
	t := &mm.Tables
	for va := uint64(mm.Heap.Start); va < uint64(mm.Heap.End); testedPages++ {
		if holds(uintptr(va)) {
			va += hugePage
			continue
		}
		wrongPages++
		last := uint64(mm.Heap.End) - hugePage
		pa, _, _ := t.Lookup(last)
		check(t.Unmap(va, hugePage), va)
		if va != last {
			check(t.Unmap(last, hugePage), last)
			check(t.Map(va, pa, hugePage, rw), va)
			cpu.Invlpg(uintptr(va))
		}
		cpu.Invlpg(uintptr(last))
		setHeap(last)
	}
}

// holds reports whether the page at va keeps what is written to it: first each word's address, then
// its complement, so that each bit is 0 and 1, and exchanged address lines are found.
func holds(va uintptr) bool {
	for _, flip := range [...]uint64{0, ^uint64(0)} {
		// Safe because: the page is mapped, and not used yet.
		page := (*[hugePage / 8]uint64)(unsafe.Pointer(va))
		for i := range page {
			page[i] = uint64(uintptr(unsafe.Pointer(&page[i]))) ^ flip
		}
		for i := range page {
			if page[i] != uint64(uintptr(unsafe.Pointer(&page[i])))^flip {
				return false
			}
		}
	}
	return true
}
