//go:build tamago

package frame

import (
	"unsafe"

	"sonde/kernel/goruntime"
)

// TakeRange returns n bytes in one piece, of the memory that frames come from: a power of two, at least
// BlockSize. They are not cleared.
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
	return unsafe.Slice(*(**byte)(unsafe.Pointer(&addr)), n), nil
}

// GiveRange gives back what TakeRange has returned.
func GiveRange(mem []byte) {
	Kernel.mu.Lock()
	defer Kernel.mu.Unlock()
	kernelSource.give(mem)
}
