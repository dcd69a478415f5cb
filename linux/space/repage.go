package space

import "syscall"

// Repage makes the n bytes from addr on map other pages of what they map already: those from page
// on, in order. They must be shared mappings of one file, without a gap, and not NoOther.
//
// Errors: EINVAL, ENOMEM (too many areas).
//
// Source: Linux, which has no such mappings of its own any more either: remap_file_pages(2).
func (s *Space) Repage(addr, n, page uint64) error {
	addr, n = addr&^(PageSize-1), n&^(PageSize-1)
	end := addr + n
	if end <= addr || page > unlimited/PageSize-n/PageSize {
		return refuse(syscall.EINVAL, "%d bytes at %#x, page %d", n, addr, page)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.oneShared(addr, end) {
		return refuse(syscall.EINVAL, "%#x..%#x is not a shared mapping of one file", addr, end)
	}
	a := *s.areas.at(addr)
	a.off = page * PageSize
	a.hold()
	_, err := s.place(&a, addr, n, Fixed)
	if err != nil {
		a.drop()
	}
	return err
}

// oneShared reports whether [start,end) is covered by shared areas of one file with the same
// attributes. Called with mu held.
func (s *Space) oneShared(start, end uint64) bool {
	first := s.areas.at(start)
	if first == nil || first.flags&(Shared|NoOther) != Shared || !s.areas.covered(start, end) {
		return false
	}
	i, j := s.areas.in(start, end)
	for _, a := range s.areas.areas[i:j] {
		if a.back != first.back || a.flags != first.flags || a.prot != first.prot {
			return false
		}
	}
	return true
}
