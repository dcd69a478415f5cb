//go:build tamago

package frame

import (
	"unsafe"

	"sonde/kernel/goruntime"
	"sonde/kernel/mm"
)

// TakeRange returns n bytes in one piece, of the memory that frames come from: a power of two, at least
// BlockSize. They are not cleared. Each page of them is a frame of Kernel, with one reference that is never put:
// so programs can map it.
//
// Errors: ErrNoMemory.
func TakeRange(n int) ([]byte, error) {
	Kernel.mu.Lock()
	defer Kernel.mu.Unlock()
	addr := goruntime.TakeBlock(uintptr(n), reserve())
	if addr == 0 {
		return nil, ErrNoMemory
	}
	kernelSource.taken += uint64(n)
	kernelSource.tell()
	// Safe because: nothing else uses the range, and it stays mapped.
	mem := unsafe.Slice(*(**byte)(unsafe.Pointer(&addr)), n)
	noteRange(mem, func(mem []byte, pa uint64) *block { return wholeBlock(mem, pa) })
	return mem, nil
}

// noteRange notes what of returns for each block of a range.
func noteRange(mem []byte, of func(mem []byte, pa uint64) *block) {
	for ; len(mem) > 0; mem = mem[BlockSize:] {
		pa := physical(mem)
		Kernel.note(pa/BlockSize, of(mem[:BlockSize], pa))
	}
}

// physical returns where memory of the heap's window is.
func physical(mem []byte) uint64 {
	pa, _, ok := mm.Tables.Lookup(uint64(uintptr(unsafe.Pointer(unsafe.SliceData(mem)))))
	if !ok {
		panic("frame: the heap's window is not mapped")
	}
	return pa
}

// At returns the frame of a page of a range, with a reference for the caller.
func At(mem []byte) Frame {
	f := Frame(physical(mem))
	Kernel.Ref(f)
	return f
}

// GiveRange gives back what TakeRange has returned. No frame of it has other references.
func GiveRange(mem []byte) {
	Kernel.mu.Lock()
	defer Kernel.mu.Unlock()
	noteRange(mem, func([]byte, uint64) *block { return nil })
	kernelSource.give(mem)
}
