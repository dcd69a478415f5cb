package space

import (
	"sonde/arch/amd64"
	"sonde/kernel/mm/frame"
)

const pteW = amd64.PTE_W

// ref and put are Pool's Ref and Put for the frame of an entry. The frame of zeroes, which
// anonymous private areas map until they are written to, is not counted. put is called with mu
// held.
func (s *Space) ref(f frame.Frame) {
	if !s.m.Frames.IsZeroes(f) {
		s.m.Frames.Ref(f)
	}
}

func (s *Space) put(f frame.Frame) {
	s.resident--
	if !s.m.Frames.IsZeroes(f) {
		s.m.Frames.Put(f)
	}
}

// alone reports whether s may write to f, in a private area: the entry has the only reference, so
// nothing else can get one meanwhile.
func (s *Space) alone(f frame.Frame) bool {
	return !s.m.Frames.IsZeroes(f) && s.m.Frames.Refs(f) == 1
}

// Fault makes addr accessible as wanted, if its area allows that.
//
// Errors: ErrNotMapped, ErrAccess, backing.ErrBus, ErrNoMemory, and others of a backing.Store.
func (s *Space) Fault(addr uint64, want Prot) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, err := s.fault(addr, want)
	return err
}

// fault is Fault; it returns the entry, which then allows the access. Called with mu held.
func (s *Space) fault(addr uint64, want Prot) (*uint64, error) {
	a := s.areas.at(addr)
	if a == nil {
		if a = s.growStack(addr); a == nil {
			return nil, ErrNotMapped
		}
	}
	if a.prot == 0 || !a.allows(want) {
		return nil, ErrAccess
	}
	e, err := s.entry(addr)
	if err != nil {
		return nil, err
	}
	switch {
	case *e == 0:
		return e, s.fill(a, e, addr, want)
	case want&Write != 0 && *e&pteW == 0:
		return e, s.makeWritable(a, e, addr)
	}
	return e, nil
}

// bits returns an entry for a page of the area; writable says that the entry may be writable, if
// the area is.
func (a *area) bits(f frame.Frame, writable bool) uint64 {
	// A and D are not used, and the processor need not set bits that are set already.
	e := uint64(f) | amd64.PTE_A | amd64.PTE_D | amd64.PTE_NX
	if a.prot != 0 {
		e |= amd64.PTE_P | amd64.PTE_U
	}
	if a.prot&Write != 0 && writable {
		e |= pteW
	}
	if a.prot&Exec != 0 {
		e &^= amd64.PTE_NX
	}
	return e
}

// fill gives an empty entry a frame.
func (s *Space) fill(a *area, e *uint64, addr uint64, want Prot) (err error) {
	var f frame.Frame
	writable := true
	switch write := want&Write != 0; {
	case a.flags&Shared != 0:
		f, err = a.back.Frame(a.page(addr))
	case a.back == nil && write:
		f, err = s.m.Frames.Alloc()
	case a.back == nil:
		writable = false
		f, err = s.m.Frames.Zeroes()
	default:
		writable = write
		f, err = a.back.Frame(a.page(addr))
		if err == nil && write {
			theirs := f
			f, err = s.copyOf(theirs)
			s.m.Frames.Put(theirs)
		}
	}
	if err == nil && s.breaks != nil {
		f, err = s.rearm(a, f, addr&^(PageSize-1))
	}
	if err == nil {
		s.resident++
		set(e, a.bits(f, writable))
	}
	return err
}

// copyOf returns a new frame with the content of f.
func (s *Space) copyOf(f frame.Frame) (frame.Frame, error) {
	c, err := s.m.Frames.AllocDirty()
	if err == nil {
		frame.Copy(s.m.Frames.Bytes(c), s.m.Frames.Bytes(f))
	}
	return c, err
}

// makeWritable gives an entry the right to write, and a frame of its own for that.
func (s *Space) makeWritable(a *area, e *uint64, addr uint64) error {
	if a.flags&Shared == 0 {
		if err := s.own(a, e, addr&^(PageSize-1)); err != nil {
			return err
		}
	}
	set(e, a.bits(frameOf(*e), true))
	return nil
}

// own gives an entry of a private area a frame of its own. The old frame is put when no CPU can
// access it through this entry any more. Called with mu held.
func (s *Space) own(a *area, e *uint64, page uint64) error {
	f := frameOf(*e)
	if s.alone(f) {
		return nil
	}
	c, err := s.copyOf(f)
	if err != nil {
		return err
	}
	set(e, a.bits(c, true))
	s.resident++
	s.flush(page, page+PageSize, false)
	s.put(f)
	return nil
}

// growStack extends the area after addr down to addr, if it is a stack, and returns it; nil: it
// may not grow.
func (s *Space) growStack(addr uint64) *area {
	i := s.areas.index(addr)
	if i == len(s.areas.areas) || s.areas.areas[i].flags&GrowsDown == 0 {
		return nil
	}
	a := &s.areas.areas[i]
	start := addr &^ (PageSize - 1)
	if start < s.m.Programs.Start || a.end-start > s.limits.Stack || !s.mayAdd(a.start-start) {
		return nil
	}
	if i > 0 {
		if below := &s.areas.areas[i-1]; start < below.end || below.prot != 0 && start-below.end < stackGap {
			return nil
		}
	}
	s.add(a.start - start)
	a.start = start
	return a
}
