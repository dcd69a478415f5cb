package space

import "syscall"

// Move says how Remap may move a mapping.
type Move uint8

// Values of Move.
const (
	Stay    Move = iota // only in place
	MayMove             // elsewhere, if necessary
	MoveTo              // to the given address, replacing what is mapped there

	// Leave, with one of the two that move: the pages move in any case, and the old mapping stays,
	// without pages.
	Leave Move = 1 << 4
)

// Remap changes the length of the mapping of old bytes at addr to n bytes, which may move it, and
// returns its address.
//
// Errors: EINVAL (not whole pages, or to overlaps), EFAULT (not one area, or NoOther), ENOMEM (no
// space, or a limit). Nothing has changed then.
func (s *Space) Remap(addr, old, n uint64, how Move, to uint64) (uint64, error) {
	end, err := s.rangeOf(addr, old)
	if err != nil {
		return 0, err
	}
	if n == 0 || n > unlimited-PageSize || how == MoveTo && to%PageSize != 0 {
		return 0, refuse(syscall.EINVAL, "%d bytes at %#x", n, to)
	}
	old, n = end-addr, roundUp(n)
	leave := how&Leave != 0
	if how &^= Leave; leave && (n != old || how == Stay) {
		return 0, refuse(syscall.EINVAL, "%d bytes at %#x cannot become %d while the old mapping stays", old, addr, n)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	a := s.areas.at(addr)
	if a == nil || a.end < end {
		return 0, refuse(syscall.EFAULT, "%#x..%#x is not one mapping", addr, end)
	}
	if n > old && a.flags&NoOther != 0 {
		return 0, refuse(syscall.EFAULT, "the mapping at %#x stays as large as it is", addr)
	}
	if err := s.areas.roomFor(4); err != nil {
		return 0, err
	}
	switch {
	case how == MoveTo:
		if to < end && addr < to+n {
			return 0, refuse(syscall.EINVAL, "%#x overlaps %#x", to, addr)
		}
		return s.move(*a, addr, old, n, to, Fixed, leave)
	case n <= old && !leave:
		if n < old {
			s.remove(addr+n, end)
		}
		return addr, nil
	case !leave && a.end == end && s.m.has(addr, addr+n) && s.roomAt(end, n-old):
		return addr, s.extend(*a, end, n-old)
	case how == MayMove:
		return s.move(*a, addr, old, n, 0, 0, leave)
	}
	return 0, refuse(syscall.ENOMEM, "no room after %#x", end)
}

// extend extends a, which ends at end, by n bytes. Called with mu held.
func (s *Space) extend(a area, end, n uint64) error {
	if a.back != nil {
		a.off += end - a.start
	}
	a.hold()
	_, err := s.place(&a, end, n, NoReplace)
	if err != nil {
		a.drop()
	}
	return err
}

// move moves the part of a at addr, old bytes, elsewhere, with its pages, and makes it n bytes
// long. leave says that the part stays mapped. Called with mu held.
func (s *Space) move(a area, addr, old, n, to uint64, flags Flags, leave bool) (uint64, error) {
	if a.back != nil {
		a.off += addr - a.start
	}
	keep, more := min(old, n), n-old
	if leave {
		more = n
	}
	if !s.mayAdd(a.counts(more)) {
		return 0, errLimit
	}
	to, err := s.choose(to, n, flags)
	if err != nil {
		return 0, err
	}
	if err := s.prepare(addr, addr+keep, to); err != nil {
		return 0, err
	}
	s.restore(addr, addr+keep)
	s.total -= s.areas.cut(to, to+n)
	s.zap(to, to+n) // and keep the tables
	s.each(addr, addr+keep, func(at uint64, e *uint64) {
		t, _ := s.lookup(at - addr + to)
		set(slot(t, at-addr+to, 0), *e)
		set(e, 0)
	})
	s.flush(addr, addr+keep, false)
	a.hold()
	a.start, a.end = to, to+n
	s.areas.insert(a) // first, so that remove does not free its tables
	if !leave {
		s.remove(addr, addr+old)
	}
	s.add(a.counts(n))
	return to, nil
}

// prepare makes the tables that the pages of [start,end) need at to.
func (s *Space) prepare(start, end, to uint64) (err error) {
	s.each(start, end, func(at uint64, _ *uint64) {
		if err == nil {
			_, err = s.entry(at - start + to)
		}
	})
	return err
}
