//go:build tamago

// Package mm is the kernel's memory map: its page tables, the addresses of the image's
// parts, and the amount of memory. boot fills it in before the Go runtime starts;
// afterwards the tables change only where Window and Devices are.
package mm

import (
	"runtime/debug"
	"sync"
	"unsafe"

	"sonde/arch/amd64/paging"
	"sonde/kernel/goruntime"
)

// A Range is [Start, End) in virtual addresses, bytes.
type Range struct{ Start, End uintptr }

// Contains reports whether addr lies in r.
//
//go:nosplit
func (r Range) Contains(addr uintptr) bool { return addr >= r.Start && addr < r.End }

// A Region is the part [Start, End) of all addresses that has one use.
type Region struct {
	Start, End uint64
	Rights     string // of all its pages, as "rw-"; "" if they differ
	Linear     bool   // what is at physical address n is at Start + n
	Use        string
}

// SlotBytes is the size of Slots, MadeBytes that of Made.
const (
	SlotBytes = 11 << 20
	MadeBytes = 1 << 20
)

// Written once at boot:
var (
	Tables  paging.Tables
	Text    Range // the image's code
	ROData  Range
	Data    Range // data and bss
	Symbols Range // the symbol table in the image
	Slots   Range // executable memory for probes, near Text
	Made    Range // after Slots: the same for code that is made while the kernel runs (probe/program)
	Heap    Range
	Layout  []Region // in ascending order; nothing is mapped elsewhere
	Window  uintptr  // an address for a page that kernel/inspect maps
	Devices Range    // addresses for MapRegisters
	// AliasOffset plus an address in Text, Slots or Made is a writable address of the same memory. Only
	// kernel/text may use it.
	AliasOffset uintptr
	// RAM is the machine's memory in bytes, Usable the part for the runtime.
	RAM, Usable uint64
)

// Memory returns the runtime's memory in bytes, and the part that it has not taken yet.
func Memory() (total, free uint64) {
	t, f := goruntime.Memory()
	return uint64(t), uint64(f)
}

// LimitHeap makes the garbage collector work harder before memory runs out: taken bytes of the
// memory are not for the runtime. It stops the world.
func LimitHeap(taken uint64) { debug.SetMemoryLimit(int64((Usable - taken) / 8 * 7)) }

// Changes guards Tables once the runtime runs.
var Changes sync.Mutex

// MapRegisters maps size bytes of a device's registers, whole pages, for good. A page that is not mapped follows.
func MapRegisters(pa, size, flags uint64) (uintptr, paging.Code) {
	Changes.Lock()
	defer Changes.Unlock()
	va := uint64(Devices.Start)
	if size >= uint64(Devices.End)-va {
		return 0, paging.OutOfPages
	}
	c := Tables.Map(va, pa, size, flags)
	if c == paging.OK {
		Devices.Start += uintptr(size) + paging.PageSize
	}
	return uintptr(va), c
}

// Physical returns the physical address of p, which must point into the heap or the image: for a device that reads
// and writes there. Only what is within a page is in one piece.
func Physical(p unsafe.Pointer) uint64 {
	Changes.Lock()
	defer Changes.Unlock()
	pa, _, _ := Tables.Lookup(uint64(uintptr(p)))
	return pa
}
