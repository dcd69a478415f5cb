package space

import (
	"bytes"
	"fmt"
	"sync/atomic"
	"syscall"
	"unsafe"

	"sonde/arch/amd64"
	"sonde/kernel/mm/backing"
	"sonde/kernel/mm/frame"
)

// CopyIn copies from addr in the program to dst. If not all of it is mapped it copies the part
// before that, and returns its length.
//
// Errors: those of Fault, all of which wrap EFAULT or ENOMEM.
func (s *Space) CopyIn(dst []byte, addr uint64) (n int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if near(addr, len(dst)) {
		if p := s.reachable(addr, Read); p != nil {
			return copy(dst, p[addr%PageSize:]), nil
		}
	}
	return s.copyPages(dst, addr, Read)
}

// CopyOut copies src to addr in the program. If not all of it fits it copies the part that does,
// and returns its length.
//
// Errors: as CopyIn.
func (s *Space) CopyOut(addr uint64, src []byte) (n int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if near(addr, len(src)) {
		if p := s.reachable(addr, Write); p != nil {
			return copy(p[addr%PageSize:], src), nil
		}
	}
	return s.copyPages(src, addr, Write)
}

// near reports whether n bytes at addr are on one page, and few enough to copy in one piece: see
// frame.Copy.
func near(addr uint64, n int) bool {
	return n <= frame.Piece && addr%PageSize+uint64(n) <= PageSize
}

// reachable returns the page of addr if access would find it without a fault, nil otherwise.
func (s *Space) reachable(addr uint64, want Prot) *[PageSize]byte {
	const user = amd64.PTE_P | amd64.PTE_U
	t := s.known(addr)
	if t == nil {
		return nil
	}
	e := *slot(t, addr, 0)
	if e&user != user || want == Write && e&pteW == 0 {
		return nil
	}
	return s.m.Frames.Peek(frameOf(e))
}

// copyPages copies between b and the pages from addr on, with Write to the pages. mu held.
func (s *Space) copyPages(b []byte, addr uint64, want Prot) (n int, err error) {
	for n < len(b) && err == nil {
		var got int
		got, err = s.copyPage(b[n:], addr+uint64(n), want)
		n += got
	}
	return n, err
}

// copyPage copies as many bytes as b and the page of addr both have. mu held.
func (s *Space) copyPage(b []byte, addr uint64, want Prot) (int, error) {
	e, err := s.access(addr, want)
	if err != nil {
		return 0, fmt.Errorf("%#x: %w", addr, err)
	}
	p := s.m.Frames.Bytes(frameOf(*e))[addr%PageSize:]
	if want == Write {
		return frame.Copy(p, b), nil
	}
	return frame.Copy(b, p), nil
}

// access is fault, for Read or Write, but skips looking up the area if the entry allows the access
// already: no entry allows more than its area.
func (s *Space) access(addr uint64, want Prot) (*uint64, error) {
	const user = amd64.PTE_P | amd64.PTE_U
	if t := s.known(addr); t != nil {
		if e := slot(t, addr, 0); *e&user == user && (want == Read || *e&pteW != 0) {
			return e, nil
		}
	}
	return s.faultIn(addr, want)
}

// faultIn is fault for the kernel's own access: the tracepoint page_fault_kernel.
//
//go:noinline
func (s *Space) faultIn(addr uint64, want Prot) (*uint64, error) { return s.fault(addr, want) }

// Clear writes n zeroes to addr.
//
// Errors: as CopyIn.
func (s *Space) Clear(addr, n uint64) error {
	return s.pieces(addr, n, Write, func(p []byte) bool {
		frame.Clear(p)
		return true
	})
}

// CString returns the string at addr, without its final zero byte.
//
// Errors: as CopyIn; ENAMETOOLONG (no zero in the first max bytes).
func (s *Space) CString(addr uint64, max int) (string, error) {
	var first [128]byte // most strings are shorter
	b := first[:0]
	for len(b) < max {
		var ended bool
		var err error
		if b, ended, err = s.untilZero(b, addr+uint64(len(b)), max-len(b)); err != nil || ended {
			return string(b), err
		}
	}
	return string(b), refuse(syscall.ENAMETOOLONG, "no end within %d bytes", max)
}

// untilZero appends the bytes at addr up to a zero to b, as far as they are on the page, and max
// bytes at most.
func (s *Space) untilZero(b []byte, addr uint64, max int) (_ []byte, ended bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e, err := s.access(addr, Read)
	if err != nil {
		return b, false, fmt.Errorf("%#x: %w", addr, err)
	}
	p := s.m.Frames.Bytes(frameOf(*e))[addr%PageSize:]
	p = p[:min(len(p), max)]
	if i := bytes.IndexByte(p, 0); i >= 0 {
		return append(b, p[:i]...), true, nil
	}
	return append(b, p...), false, nil
}

// pieces calls f with the memory of [addr,addr+n), page by page, until f returns false. f may not
// keep the slices.
func (s *Space) pieces(addr, n uint64, want Prot, f func(p []byte) bool) error {
	for n > 0 {
		size := min(n, PageSize-addr%PageSize)
		if more, err := s.piece(addr, size, want, f); err != nil || !more {
			return err
		}
		addr += size
		n -= size
	}
	return nil
}

func (s *Space) piece(addr, size uint64, want Prot, f func(p []byte) bool) (more bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e, err := s.access(addr, want)
	if err != nil {
		return false, fmt.Errorf("%#x: %w", addr, err)
	}
	at := addr % PageSize
	return f(s.m.Frames.Bytes(frameOf(*e))[at : at+size]), nil
}

// word calls f with the 32-bit word at addr, which other CPUs may change at any
// time.
func (s *Space) word(addr uint64, want Prot, f func(w *uint32)) error {
	if addr%4 != 0 {
		return refuse(syscall.EINVAL, "word at %#x is not aligned", addr)
	}
	_, err := s.piece(addr, 4, want, func(p []byte) bool {
		f((*uint32)(unsafe.Pointer(&p[0]))) // Safe because: aligned, within one page
		return true
	})
	return err
}

// Load32 returns the word at addr.
//
// Errors: as CopyIn; EINVAL (not aligned).
func (s *Space) Load32(addr uint64) (v uint32, err error) {
	err = s.word(addr, Read, func(w *uint32) { v = atomic.LoadUint32(w) })
	return v, err
}

// Store32 sets the word at addr.
//
// Errors: as Load32.
func (s *Space) Store32(addr uint64, v uint32) error {
	return s.word(addr, Write, func(w *uint32) { atomic.StoreUint32(w, v) })
}

// CompareAndSwap32 sets the word at addr to new if it is old, and reports whether it was.
//
// Errors: as Load32.
func (s *Space) CompareAndSwap32(addr uint64, old, new uint32) (swapped bool, err error) {
	err = s.word(addr, Write, func(w *uint32) { swapped = atomic.CompareAndSwapUint32(w, old, new) })
	return swapped, err
}

// A Key identifies a word of memory: it is equal in all spaces that share the word, at any address.
type Key struct {
	space *Space        // private memory
	back  backing.Store // shared memory
	at    uint64
}

// Key returns the key of the memory at addr; nothing need be mapped there.
func (s *Space) Key(addr uint64) Key {
	s.mu.Lock()
	defer s.mu.Unlock()
	if a := s.areas.at(addr); a != nil && a.flags&Shared != 0 {
		return Key{back: a.back, at: a.off + addr - a.start}
	}
	return Key{space: s, at: addr}
}

// MayChange reports whether anyone could write to the memory at addr: private anonymous memory that
// is not writable never changes.
func (s *Space) MayChange(addr uint64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	a := s.areas.at(addr)
	return a != nil && (a.back != nil || a.prot&Write != 0)
}
