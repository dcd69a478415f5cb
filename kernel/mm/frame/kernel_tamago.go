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

// A window takes blocks from the range in which the runtime's heap grows. The heap cannot use them,
// so the collector is told to make do with less. It implements Source.
type window struct {
	taken uint64 // bytes
	told  uint64 // what the collector knows: taken, rounded up to step
}

// step is how many bytes are taken before the collector is told again, which stops the world.
const step = 32 << 20

// reserve is the memory that remains for the kernel's heap, so that the kernel still works when
// programs have taken all they can.
func reserve() uintptr { return uintptr(mm.Usable / 8) }

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
	// Safe because: nothing else uses the block, and it stays mapped.
	return unsafe.Slice(*(**byte)(unsafe.Pointer(&addr)), BlockSize), pa, nil
}

func (w *window) Give(mem []byte, pa uint64) { w.give(mem) }

func (w *window) give(mem []byte) {
	goruntime.GiveBlock(uintptr(unsafe.Pointer(unsafe.SliceData(mem))), uintptr(len(mem)))
	w.taken -= uint64(len(mem))
	w.tell()
}

func (w *window) tell() {
	if now := (w.taken + step - 1) / step * step; now != w.told && (now > w.told || w.taken+step < w.told) {
		w.told = now
		mm.LimitHeap(now)
	}
}
