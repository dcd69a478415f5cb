package space

import (
	"slices"
	"syscall"

	"sonde/kernel/mm/backing"
	"sonde/kernel/mm/frame"
)

// int3 is the breakpoint instruction, one byte.
const int3 = 0xCC

// A breakpoint is a byte of a program's text that the kernel has replaced, in a private page of the
// space, so no other process and no file has it.
//
// It belongs to what is mapped now: if the page is dropped and read from the file again, it gets
// its breakpoints again. If something else is mapped at the address, that is not changed.
type breakpoint struct {
	addr uint64
	was  byte
	back backing.Store // nil: memory without a file
	off  uint64        // of the byte in back
}

// of reports whether b belongs to the present mapping of the area.
func (b *breakpoint) of(a *area) bool {
	return a.back == b.back && (b.back == nil || a.off+b.addr-a.start == b.off)
}

// in returns the byte in the memory of its page.
func (b *breakpoint) in(page []byte) *byte { return &page[b.addr%PageSize] }

// Break replaces the byte at addr by a breakpoint, in this space only. When it returns, each CPU
// that enters ring 3 of s executes it.
//
// Errors: ErrNotMapped, backing.ErrBus, ErrNoMemory; EACCES (not a private area that may be executed),
// EEXIST (there is a breakpoint already, made by this function or by the program).
func (s *Space) Break(addr uint64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	a := s.areas.at(addr)
	switch {
	case s.root == nil:
		return errReleased
	case a == nil:
		return ErrNotMapped
	case a.prot&Exec == 0:
		return refuse(syscall.EACCES, "%#x is not executable", addr)
	case a.flags&Shared != 0:
		return refuse(syscall.EACCES, "%#x is mapped shared: a breakpoint would be in the file", addr)
	}
	page := addr &^ (PageSize - 1)
	e, err := s.fault(addr, Exec)
	if err == nil {
		err = s.own(a, e, page)
	}
	if err != nil {
		return err
	}
	b := breakpoint{addr: addr, back: a.back, off: a.off + addr - a.start}
	at := b.in(s.m.Frames.Bytes(frameOf(*e)))
	if *at == int3 {
		return refuse(syscall.EEXIST, "there is a breakpoint at %#x already", addr)
	}
	b.was = *at
	if s.breaks == nil {
		s.breaks = map[uint64][]breakpoint{}
	}
	s.breaks[page] = append(s.breaks[page], b)
	s.write(at, int3, page)
	return nil
}

// write changes a byte of a program's text. It writes it again when no CPU executes the page: QEMU
// may have translated the old byte meanwhile.
func (s *Space) write(at *byte, v byte, page uint64) {
	*at = v
	s.flush(page, page+PageSize, false)
	*at = v
}

// Unbreak restores the byte that Break has replaced. If there is no breakpoint, or its page is gone
// or maps something else, it does nothing.
func (s *Space) Unbreak(addr uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	page := addr &^ (PageSize - 1)
	i := slices.IndexFunc(s.breaks[page], func(b breakpoint) bool { return b.addr == addr })
	if i < 0 {
		return
	}
	b := s.breaks[page][i]
	s.breaks[page] = slices.Delete(s.breaks[page], i, i+1)
	if len(s.breaks[page]) == 0 {
		delete(s.breaks, page)
	}
	if at := s.present(&b); at != nil && *at == int3 {
		s.write(at, b.was, page)
	}
}

// present returns the byte of b, nil if its page is not in memory. Called with mu held.
func (s *Space) present(b *breakpoint) *byte {
	if a := s.areas.at(b.addr); s.root == nil || a == nil || !b.of(a) {
		return nil
	}
	t, _ := s.lookup(b.addr)
	if t == nil || *slot(t, b.addr, 0) == 0 {
		return nil
	}
	return b.in(s.m.Frames.Bytes(frameOf(*slot(t, b.addr, 0))))
}

// Recheck is called for a thread that has hit a breakpoint at addr that does not exist any more: it
// makes sure that the CPUs see that. It reports whether the byte is not a breakpoint.
func (s *Space) Recheck(addr uint64) (gone bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t, _ := s.lookup(addr)
	if s.root == nil || t == nil || *slot(t, addr, 0) == 0 {
		return true // the page will be read again
	}
	f := frameOf(*slot(t, addr, 0))
	at := &s.m.Frames.Bytes(f)[addr%PageSize]
	if *at == int3 {
		return false
	}
	if s.alone(f) {
		s.write(at, *at, addr&^(PageSize-1))
	}
	return true
}

// rearm puts the breakpoints into a page that is about to be mapped: into a copy, if others use the
// frame, too. It returns the frame to map; on an error it has put f. Called with mu held.
func (s *Space) rearm(a *area, f frame.Frame, page uint64) (frame.Frame, error) {
	for i := range s.breaks[page] {
		b := &s.breaks[page][i]
		if a.flags&Shared != 0 || !b.of(a) || *b.in(s.m.Frames.Bytes(f)) != b.was {
			continue
		}
		if !s.alone(f) {
			c, err := s.copyOf(f)
			if !s.m.Frames.IsZeroes(f) {
				s.m.Frames.Put(f)
			}
			if err != nil {
				return frame.None, err
			}
			f = c
		}
		*b.in(s.m.Frames.Bytes(f)) = int3
	}
	return f, nil
}

// clean restores the original bytes in a copy of a page of s.
func (s *Space) clean(copy []byte, page uint64) {
	for i := range s.breaks[page] {
		b := &s.breaks[page][i]
		if a := s.areas.at(b.addr); a != nil && b.of(a) && *b.in(copy) == int3 {
			*b.in(copy) = b.was
		}
	}
}

// restore puts the original bytes back into the pages of [start,end), which are about to move. The
// breakpoints stay, for the case that the same is mapped there again. Called with mu held.
func (s *Space) restore(start, end uint64) {
	for page, all := range s.breaks {
		if page < start || page >= end {
			continue
		}
		for i := range all {
			if at := s.present(&all[i]); at != nil && *at == int3 {
				s.write(at, all[i].was, page)
			}
		}
	}
}

// Text is CopyIn with the original bytes in place of breakpoints: the program as it was loaded.
//
// Errors: as CopyIn.
func (s *Space) Text(dst []byte, addr uint64) (n int, err error) {
	err = s.pieces(addr, uint64(len(dst)), Read, func(p []byte) bool {
		at := addr + uint64(n)
		k := copy(dst[n:], p)
		for _, b := range s.breaks[at&^(PageSize-1)] {
			if i := b.addr - at; b.addr >= at && i < uint64(k) && p[i] == int3 {
				dst[n+int(i)] = b.was
			}
		}
		n += k
		return true
	})
	return n, err
}

// InMemory stores 1 for each page from start on that can be used without reading it from anywhere,
// and 0 for each other, a byte per page.
func (s *Space) InMemory(out []byte, start uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(out)
	if s.root == nil {
		return
	}
	end := start + uint64(len(out))*PageSize
	s.each(start, end, func(addr uint64, _ *uint64) { out[(addr-start)/PageSize] = 1 })
	i, j := s.areas.in(start, end)
	for _, a := range s.areas.areas[i:j] {
		b, ok := a.back.(interface{ Resident(page uint64) bool })
		for addr := max(a.start, start); ok && addr < min(a.end, end); addr += PageSize {
			if b.Resident(a.page(addr)) {
				out[(addr-start)/PageSize] = 1
			}
		}
	}
}

// Resident returns the frame of addr's page, frame.None if it is not in memory. The answer
// may be out of date at once.
func (s *Space) Resident(addr uint64) frame.Frame {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.root == nil || !s.m.has(addr, addr) {
		return frame.None
	}
	t, _ := s.lookup(addr)
	if t == nil {
		return frame.None
	}
	return frameOf(*slot(t, addr, 0))
}
