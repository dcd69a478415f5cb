package space

import "syscall"

// SetHeap sets the start of the heap, after the program; the heap is empty.
func (s *Space) SetHeap(start uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.brkStart = roundUp(start)
	s.brk = s.brkStart
}

// Brk makes the heap end at addr, and returns its end: the old one if addr is not possible.
func (s *Space) Brk(addr uint64) uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.root == nil || addr < s.brkStart || addr > unlimited-PageSize {
		return s.brk
	}
	old, end := roundUp(s.brk), roundUp(addr)
	switch {
	case end < old:
		if s.areas.roomFor(1) != nil {
			return s.brk
		}
		s.remove(end, old)
	case end > old:
		if s.growHeap(old, end, addr-s.brkStart) != nil {
			return s.brk
		}
	}
	s.brk = addr
	return addr
}

// growHeap maps [start,end), which makes the heap n bytes long.
func (s *Space) growHeap(start, end, n uint64) error {
	if n > s.limits.Data || n > s.m.maxPrivate() {
		return errLimit
	}
	if !s.roomAt(start, end-start) {
		return refuse(syscall.ENOMEM, "something else is mapped after the heap")
	}
	a := area{prot: Read | Write, name: "[heap]"}
	_, err := s.place(&a, start, end-start, NoReplace)
	return err
}

// Discard drops the pages of [addr,addr+n), so that they read as when they were mapped: as zeroes,
// or as the file's contents; pages of shared areas are read again.
//
// Errors: EINVAL (not whole pages), ENOMEM (part is not mapped; the rest is done).
func (s *Space) Discard(addr, n uint64) error {
	if n == 0 {
		return nil
	}
	end, err := s.rangeOf(addr, n)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.zap(addr, end)
	if !s.areas.covered(addr, end) {
		return refuse(syscall.ENOMEM, "not all of %#x..%#x is mapped", addr, end)
	}
	return nil
}
