package frame

import (
	"math/bits"
	"sync/atomic"
	"unsafe"
)

type page = [Size]byte

// block is 2 MiB of frames.
type block struct {
	pa    uint64
	mem   []byte
	pages *[perBlock]page
	refs  [perBlock]atomic.Int32

	// guarded by Pool.mu:
	free  [perBlock / 64]uint64 // a bit for each free frame
	nfree int
	place int // index in Pool.partial; -1: no frame is free
}

func newBlock(mem []byte, pa uint64) *block {
	b := &block{pa: pa, mem: mem, nfree: perBlock}
	b.pages = (*[perBlock]page)(unsafe.Pointer(unsafe.SliceData(mem))) // Safe because: mem has BlockSize bytes
	for i := range b.free {
		b.free[i] = ^uint64(0)
	}
	return b
}

// wholeBlock returns a block all of whose frames have a reference.
func wholeBlock(mem []byte, pa uint64) *block {
	b := &block{pa: pa, mem: mem, place: -1}
	b.pages = (*[perBlock]page)(unsafe.Pointer(unsafe.SliceData(mem))) // Safe because: mem has BlockSize bytes
	for i := range b.refs {
		b.refs[i].Store(1)
	}
	return b
}

// take takes the lowest free frame and returns its number. There must be one.
func (b *block) take() int {
	for i, w := range b.free {
		if w != 0 {
			b.free[i] = w & (w - 1)
			b.nfree--
			return i*64 + bits.TrailingZeros64(w)
		}
	}
	panic("frame: a block's count of free frames is wrong")
}

// put frees frame i.
func (b *block) put(i int) {
	b.free[i/64] |= 1 << (i % 64)
	b.nfree++
}
