package space

import "syscall"

// has reports whether programs may use all of [start,end).
func (m *Machine) has(start, end uint64) bool {
	return start >= m.Programs.Start && end <= m.Programs.End && start <= end
}

// maxPrivate is the largest size of a private area in bytes.
func (m *Machine) maxPrivate() uint64 {
	if m.RAM == 0 {
		return unlimited
	}
	return m.RAM
}

// choose returns the address for n bytes: addr, if flags demand that or it is free, otherwise the
// highest free one. Called with mu held.
func (s *Space) choose(addr, n uint64, flags Flags) (uint64, error) {
	fits := addr <= unlimited-n && s.m.has(addr, addr+n)
	if flags&(Fixed|NoReplace) != 0 {
		switch {
		case !fits:
			return 0, refuse(syscall.ENOMEM, "%#x, %d bytes, does not all belong to programs", addr, n)
		case flags&NoReplace != 0 && !s.areas.free(addr, addr+n):
			return 0, refuse(syscall.EEXIST, "something is mapped at %#x, %d bytes", addr, n)
		}
		return addr, nil
	}
	if flags&Low != 0 {
		return s.search(n, 2<<30)
	}
	if hint := addr &^ (PageSize - 1); addr != 0 && s.m.has(hint, hint+n) && s.roomAt(hint, n) {
		return hint, nil
	}
	if at, err := s.searchTop(n); err == nil {
		return at, nil
	}
	return s.search(n, unlimited)
}

// full says that there is no gap of size bytes between from and mmapTop; 0: nothing is known.
// Without it, each Map of a program with many areas would search all of them.
type full struct{ from, size uint64 }

// searchTop is search below mmapTop.
func (s *Space) searchTop(n uint64) (uint64, error) {
	known := s.full.size != 0 && n >= s.full.size
	from := s.mmapTop
	if known {
		from = s.full.from
	}
	at, err := s.search(n, from)
	if err == nil && (!known || n == s.full.size) {
		s.full = full{at, n}
	}
	return at, err
}

// roomAt reports whether [at,at+n) is free, and a stack cannot grow into it.
func (s *Space) roomAt(at, n uint64) bool {
	i := s.areas.index(at)
	return i == len(s.areas.areas) || at+n <= s.floor(i)
}

// floor is the start of area i, minus the gap that must stay free below it.
func (s *Space) floor(i int) uint64 {
	a := &s.areas.areas[i]
	if a.flags&GrowsDown != 0 {
		return a.start - min(a.start, stackGap)
	}
	return a.start
}

// search returns the highest address below limit where n bytes are free.
func (s *Space) search(n, limit uint64) (uint64, error) {
	lowest, hi := s.m.Programs.Start, min(s.m.Programs.End, limit)
	for i := s.areas.index(hi); hi > lowest; i-- {
		if i < len(s.areas.areas) {
			hi = min(hi, s.floor(i))
		}
		lo := lowest
		if i > 0 {
			lo = max(lo, s.areas.areas[i-1].end)
		}
		if hi >= lo && hi-lo >= n {
			return hi - n, nil
		}
		if i == 0 {
			break
		}
	}
	return 0, refuse(syscall.ENOMEM, "no room for %d bytes", n)
}

// Top is the end of a program's addresses, below which the stack lies.
//
// Context: any.
func (s *Space) Top() uint64 { return s.m.Programs.End }

// Reserved reports whether addr belongs to the kernel: no program can map it. The pages at 0, which
// programs cannot map either, are unused.
//
// Context: any.
func (s *Space) Reserved(addr uint64) bool { return addr >= s.m.Programs.End }

// Allows reports whether a program may have all of [start,end).
//
// Context: any.
func (s *Space) Allows(start, end uint64) bool { return s.m.has(start, end) }
