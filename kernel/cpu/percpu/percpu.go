// Package percpu gives out memory of each CPU that is at the same distance from its GS base. What a CPU counts there
// takes one instruction, INCQ offset(GS), which neither an interrupt nor an NMI can divide; other CPUs find it as well.
//
// All of it is there from boot on: trap.DataSize bytes for each CPU.
package percpu

import (
	"sync"
	"syscall"
	"unsafe"

	"sonde/arch/amd64/trap"
	"sonde/kernel/refusal"
)

// An Offset is the distance of memory from the GS base, the same on each CPU. 0 is none's.
type Offset int32

// word is what memory is given out in, in bytes.
const word = 8

// area is the memory. first is CPU 0's GS base; those of the others follow, a trap.AreaSize each.
var area struct {
	first unsafe.Pointer
	cpus  int

	mu sync.Mutex
	// guarded by mu:
	used [trap.DataSize / word]bool
	free int // no word before this one is free
}

// Init says where the memory is: n CPUs' GS bases are trap.AreaSize apart.
//
// Context: boot, goroutine.
func Init(first unsafe.Pointer, n int) { area.first, area.cpus = first, n }

// Take returns n bytes of each CPU's, all zero.
//
// Errors: ENOMEM there is no room.
func Take(n int) (Offset, error) {
	area.mu.Lock()
	defer area.mu.Unlock()
	at, ok := find(words(n))
	if !ok {
		return 0, refusal.New(syscall.ENOMEM, "no room for %d bytes of each CPU: %d bytes of each are for all", n, trap.DataSize)
	}
	mark(at, words(n), true)
	off := Offset(trap.DataAt + at*word)
	for cpu := range area.cpus {
		clear(unsafe.Slice((*byte)(At(off, cpu)), words(n)*word))
	}
	return off, nil
}

// Give takes back the n bytes at off, which no CPU uses any more.
func Give(off Offset, n int) {
	area.mu.Lock()
	defer area.mu.Unlock()
	at := (int(off) - trap.DataAt) / word
	mark(at, words(n), false)
	area.free = min(area.free, at)
}

// At returns where a CPU's memory at off is.
//
// Context: any. Safe because: the CPU is one, and off was taken.
func At(off Offset, cpu int) unsafe.Pointer {
	return unsafe.Add(area.first, uintptr(cpu)*trap.AreaSize+uintptr(off))
}

// words is how many words n bytes take.
func words(n int) int { return (n + word - 1) / word }

// find returns the first of n free words in a row. Called with mu held.
func find(n int) (at int, ok bool) {
	if area.first == nil || n <= 0 {
		return 0, false
	}
	for area.free < len(area.used) && area.used[area.free] {
		area.free++
	}
	free := 0
	for i := area.free; i < len(area.used); i++ {
		if free++; area.used[i] {
			free = 0
		}
		if free == n {
			return i + 1 - n, true
		}
	}
	return 0, false
}

func mark(at, n int, used bool) {
	for i := range n {
		area.used[at+i] = used
	}
}
