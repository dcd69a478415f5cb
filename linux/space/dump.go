package space

import "sonde/kernel/mm/frame"

// Dumped is an area, and how many of its bytes a core file has, from its start on.
type Dumped struct {
	Area
	Size uint64
}

// What a core file has, as in /proc/PID/coredump_filter.
//
// Source: Linux, core(5), "Controlling which mappings are written to the core dump".
const (
	DumpPrivate      = 1 << iota // private memory, also that of files in which something was written
	DumpShared                   // shared memory without a file
	DumpPrivateFiles             // private areas of files
	DumpSharedFiles              // shared areas of files
	DumpHeaders                  // the first page of an ELF file
	dumpHuge

	DumpUsual = DumpPrivate | DumpShared | DumpHeaders | dumpHuge
	DumpAll   = 1<<9 - 1 // all bits that there are
)

// Dumped returns the areas, and what a core file with this filter has of them.
func (s *Space) Dumped(filter uint32) []Dumped {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make([]Dumped, len(s.areas.areas))
	for i := range all {
		a := &s.areas.areas[i]
		all[i] = Dumped{a.shown(), s.dumped(a, filter)}
	}
	return all
}

// dumped returns how much of an area is in a core file. Called with mu held.
func (s *Space) dumped(a *area, filter uint32) uint64 {
	_, shared := a.back.(*anon)
	kind := uint32(DumpPrivateFiles)
	switch {
	case a.back == nil:
		kind = DumpPrivate
	case shared:
		kind = DumpShared
	case a.flags&Shared != 0:
		kind = DumpSharedFiles
	}
	switch whole := a.end - a.start; {
	case a.flags&OfKernel != 0:
		return whole
	case a.flags&NotDumped != 0:
		return 0
	case filter&kind != 0, kind == DumpPrivateFiles && filter&DumpPrivate != 0 && s.changed(a):
		return whole
	case kind == DumpPrivateFiles && filter&DumpHeaders != 0 && a.off == 0 && s.isELF(a):
		return PageSize
	}
	return 0
}

// changed reports whether a program has written to a private area of a file. What a breakpoint has
// changed does not count. Called with mu held.
func (s *Space) changed(a *area) (yes bool) {
	s.each(a.start, a.end, func(addr uint64, e *uint64) {
		if yes || s.breaks[addr] != nil {
			return
		}
		f, err := a.back.Frame(a.page(addr))
		yes = f != frameOf(*e)
		if err == nil {
			s.m.Frames.Put(f)
		}
	})
	return yes
}

// isELF reports whether an area begins as an ELF file does. Called with mu held.
func (s *Space) isELF(a *area) bool {
	var b [4]byte
	n, _ := s.copyPages(b[:], a.start, Read)
	return string(b[:n]) == "\x7fELF"
}

// DumpedPage copies the first page of [addr,end) that is in memory to to, whatever its area allows,
// with the original bytes in place of breakpoints, and returns its address; false: there is none.
func (s *Space) DumpedPage(to *[PageSize]byte, addr, end uint64) (at uint64, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.root == nil {
		return 0, false
	}
	for ; addr < end; addr += PageSize {
		a := s.areas.at(addr)
		if a == nil {
			return 0, false
		}
		t, absent := s.lookup(addr)
		switch {
		case t == nil && a.back == nil:
			addr = absent - PageSize
			continue
		case t == nil || *slot(t, addr, 0) == 0:
			if !s.inFile(a, addr) {
				continue
			}
			if _, err := s.fault(addr, Read); err != nil {
				continue
			}
			t, _ = s.lookup(addr)
		}
		frame.Copy(to[:], s.m.Frames.Bytes(frameOf(*slot(t, addr, 0))))
		s.clean(to[:], addr)
		return addr, true
	}
	return 0, false
}

// inFile reports whether a file has a page in memory for addr. Called with mu held.
func (s *Space) inFile(a *area, addr uint64) bool {
	b, sparse := a.back.(interface{ Resident(page uint64) bool })
	return a.back != nil && (!sparse || b.Resident(a.page(addr)))
}
