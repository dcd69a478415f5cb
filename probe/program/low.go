package program

import (
	"sync/atomic"
	"unsafe"

	"sonde/bpf"
)

// A lowPiece is memory in the image, whose addresses have room in an instruction: what is there is read or compared by
// one. Small arrays are in such pieces, as long as there are some; so is what tells a script's programs to run.
type lowPiece struct {
	taken atomic.Bool
	mem   [lineSize / wordSize]uint64
}

var lowPieces [64]lowPiece

// takeLow puts a small array into the image, if there is room. Those of processes are in pages, which can be mapped.
func (m *Map) takeLow(size uintptr) bool {
	if !m.is(bpf.Array) || m.owned || size > lineSize {
		return false
	}
	for i := range lowPieces {
		if p := &lowPieces[i]; p.taken.CompareAndSwap(false, true) {
			m.low, m.base = p, unsafe.Pointer(&p.mem)
			m.memory = unsafe.Slice((*byte)(m.base), size)
			clear(m.memory)
			return true
		}
	}
	return false
}

// give makes the piece another array's. No program uses it any more.
func (p *lowPiece) give() { p.taken.Store(false) }
