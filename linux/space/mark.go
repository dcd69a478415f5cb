package space

import "syscall"

// Mark sets and clears flags of the areas in [start,end): Locked, NotForked, Wiped,
// NotDumped.
//
// Errors: ENOMEM (part is not mapped: the areas before it are done, and with past those after it,
// too; too many areas), EINVAL (Wiped for an area that is shared or has a file; the areas before it
// are done).
func (s *Space) Mark(start, end uint64, set, clear Flags, past bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.areas.roomFor(2); err != nil {
		return err
	}
	whole := s.areas.covered(start, end)
	if !whole && !past {
		end = s.areas.coveredUntil(start)
	}
	s.areas.split(start)
	s.areas.split(end)
	i, j := s.areas.in(start, end)
	defer s.areas.join(i, j+1)
	for k := i; k < j; k++ {
		a := &s.areas.areas[k]
		if set&Wiped != 0 && a.back != nil { // shared memory always has a backing
			return refuse(syscall.EINVAL, "%#x is not private memory without a file", a.start)
		}
		a.flags = a.flags&^clear | set
	}
	if !whole {
		return refuse(syscall.ENOMEM, "not all of %#x..%#x is mapped", start, end)
	}
	return nil
}

// coveredUntil returns the end of the areas that cover addresses from start on without a gap.
func (t areas) coveredUntil(start uint64) uint64 {
	for i := t.index(start); i < len(t) && t[i].start <= start; i++ {
		start = t[i].end
	}
	return start
}

// Marked reports whether an area in [start,end) has one of the flags.
func (s *Space) Marked(start, end uint64, flags Flags) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	i, j := s.areas.in(start, end)
	for _, a := range s.areas.areas[i:j] {
		if a.flags&flags != 0 {
			return true
		}
	}
	return false
}

// Lock sets Locked of all areas if now, and clears it if not. future says that new areas will be
// Locked, too.
func (s *Space) Lock(now, future bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.future = 0; future {
		s.future = Locked
	}
	for i := range s.areas.areas {
		if a := &s.areas.areas[i]; now {
			a.flags |= Locked
		} else if !future {
			a.flags &^= Locked
		}
	}
	s.areas.join(0, len(s.areas.areas))
}

// Populate faults in each page of [start,end) for this access or, if it is 0, for the one that its
// area allows, until stop returns true.
//
// Errors: those of Fault.
func (s *Space) Populate(start, end uint64, want Prot, stop func() bool) error {
	for at := start; at < end && !stop(); at += PageSize {
		if err := s.populate(at, want); err != nil {
			return err
		}
	}
	return nil
}

func (s *Space) populate(addr uint64, want Prot) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if want == 0 {
		want = Read
		if a := s.areas.at(addr); a != nil && a.prot&Write != 0 && a.flags&Shared == 0 {
			want = Write
		}
	}
	_, err := s.fault(addr, want)
	return err
}
