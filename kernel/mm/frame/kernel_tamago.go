//go:build tamago

package frame

import (
	"fmt"
	"unsafe"

	"sonde/kernel/goruntime"
	"sonde/kernel/mm"
)

// kernelSource is the memory that the Go runtime has not yet taken.
var kernelSource = new(window)

// A window takes blocks from the range that the runtime's heap grows in. What is
// taken, the heap cannot have, so the collector is told to be content with less.
type window struct {
	taken uint64 // bytes
	told  uint64 // what the collector knows of: taken, rounded up to step
}

// step is how much is taken before the collector is told again, which stops the world.
const step = 32 << 20

// reserve is what is left to the kernel's heap: when programs have all they can get,
// the kernel goes on.
func reserve() uintptr { return uintptr(mm.Usable / 8) }

// Take implements Source.
func (w *window) Take() ([]byte, uint64, error) {
	addr := goruntime.TakeBlock(BlockSize, reserve())
	if addr == 0 {
		return nil, 0, ErrNoMemory
	}
	pa, _, ok := mm.Tables.Lookup(uint64(addr))
	if !ok {
		panic(fmt.Sprintf("frame: the heap's window is not mapped at %#x", addr))
	}
	w.taken += BlockSize
	w.tell()
	// Safe because: the block is nobody else's, and mapped for good.
	return unsafe.Slice(*(**byte)(unsafe.Pointer(&addr)), BlockSize), pa, nil
}

// Give implements Source.
func (w *window) Give(mem []byte, pa uint64) {
	goruntime.GiveBlock(uintptr(unsafe.Pointer(unsafe.SliceData(mem))), BlockSize)
	w.taken -= BlockSize
	w.tell()
}

func (w *window) tell() {
	if now := (w.taken + step - 1) / step * step; now != w.told && (now > w.told || w.taken+step < w.told) {
		w.told = now
		mm.LimitHeap(now)
	}
}
