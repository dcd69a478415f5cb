package space

import (
	"encoding/binary"
	"sync/atomic"
	"unsafe"

	"sonde/arch/amd64"
	"sonde/kernel/mm/frame"
)

// Peek copies from addr in the program to dst, as far as the pages are in memory, and returns how
// many bytes it copied. It takes no lock, so it is for handlers of probes. The caller must make
// sure that s is not released meanwhile; a thread of s does so by existing.
//
// While it copies, another thread may unmap a page, and its frame may be reused. The entry is read
// again afterwards, and the copy counts if it has not changed. A frame that is unmapped and mapped
// again between the two reads is not noticed: then the bytes are some that were there in that time.
//
// Context: any.
func (s *Space) Peek(dst []byte, addr uint64) (n int) {
	for n < len(dst) {
		e, ok := s.look(addr)
		if !ok {
			return n
		}
		p := s.m.Frames.Peek(frameOf(e))
		if p == nil {
			return n
		}
		k := move(dst[n:], p[addr%PageSize:])
		if again, ok := s.look(addr); !ok || again != e {
			return n
		}
		n += k
		addr += uint64(k)
	}
	return n
}

// PeekWord is Peek for 8 bytes.
//
// Context: any.
func (s *Space) PeekWord(addr uint64) (v uint64, ok bool) {
	var b [wordSize]byte
	ok = s.Peek(b[:], addr) == wordSize
	return binary.LittleEndian.Uint64(b[:]), ok
}

// move is copy by general registers: those of SSE are still those of what was hit.
func move(dst, src []byte) int {
	n := min(len(dst), len(src))
	i := 0
	for ; n-i >= 8; i += 8 {
		binary.LittleEndian.PutUint64(dst[i:], binary.LittleEndian.Uint64(src[i:]))
	}
	for ; i < n; i++ {
		dst[i] = src[i]
	}
	return n
}

// look returns the entry of addr's page, if a program may read there.
func (s *Space) look(addr uint64) (e uint64, ok bool) {
	if !s.m.has(addr, addr) {
		return 0, false
	}
	f := frame.Frame(s.rootPA.Load())
	for level := uint(top); ; level-- {
		p := s.m.Frames.Peek(f)
		if p == nil {
			return 0, false
		}
		t := (*words)(unsafe.Pointer(p)) // Safe because: frames are aligned
		e = atomic.LoadUint64(slot(t, addr, level))
		if level == 0 {
			const visible = amd64.PTE_P | amd64.PTE_U
			return e, e&visible == visible
		}
		if !ours(e) {
			return 0, false
		}
		f = frameOf(e)
	}
}
