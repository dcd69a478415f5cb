package space

import (
	"math"
	"syscall"

	"sonde/arch/amd64"
	"sonde/kernel/mm/backing"
)

// Map makes an area of n bytes, rounded up to pages, and returns its address: addr, if that is free
// or flags demand it. The area maps b from off on (nil: zeroes).
//
// Errors: EINVAL (n is 0, addr or off is not a multiple of the page size, prot, GrowsDown of what
// has a backing), ENOMEM (no space, a limit, or addr is not for programs), EOVERFLOW
// (the backing has no such offsets), EEXIST (NoReplace), EACCES (NoWrite).
func (s *Space) Map(addr, n uint64, prot Prot, flags Flags, b backing.Store, off uint64) (uint64, error) {
	a := area{prot: prot, flags: flags & kinds, back: b, off: off}
	switch {
	case n == 0:
		return 0, refuse(syscall.EINVAL, "mapping of no bytes")
	case n > s.m.Programs.End:
		return 0, refuse(syscall.ENOMEM, "mapping of %d bytes, more than there are addresses", n)
	case b != nil && off > mostOffset-n:
		return 0, refuse(syscall.EOVERFLOW, "mapping of %d bytes of a file from %d on", n, off)
	case off%PageSize != 0 || flags&(Fixed|NoReplace) != 0 && addr%PageSize != 0:
		return 0, refuse(syscall.EINVAL, "mapping at %#x of offset %#x: not a whole page", addr, off)
	case prot&^(Read|Write|Exec) != 0:
		return 0, refuse(syscall.EINVAL, "protection %#x", prot)
	case flags&GrowsDown != 0 && (b != nil || flags&Shared != 0):
		return 0, refuse(syscall.EINVAL, "only private memory without a file can grow down")
	case flags&NoWrite != 0 && flags&Shared != 0 && prot&Write != 0:
		return 0, errNoWrite
	}
	if b == nil {
		a.off = 0
		if flags&Shared != 0 {
			a.back = newAnon(s.m.Frames)
		}
	}
	a.hold()
	s.mu.Lock()
	defer s.mu.Unlock()
	at, err := s.place(&a, addr, roundUp(n), flags)
	if err != nil {
		a.drop()
	}
	return at, err
}

// mostOffset is the greatest size of a file.
const mostOffset = math.MaxInt64

var errNoWrite = refuse(syscall.EACCES, "the file is not open for writing")

func roundUp(n uint64) uint64 { return (n + PageSize - 1) &^ (PageSize - 1) }

// place finds an address for a, of n bytes, and inserts it. Called with mu held.
func (s *Space) place(a *area, addr, n uint64, flags Flags) (uint64, error) {
	if s.root == nil {
		return 0, errReleased
	}
	at, err := s.choose(addr, n, flags)
	if err != nil {
		return 0, err
	}
	if err := s.areas.roomFor(1 + s.areas.splits(at, at+n)); err != nil {
		return 0, err
	}
	if replaced := s.areas.size(at, at+n); !s.mayAdd(a.counts(n) - replaced) {
		return 0, errLimit
	}
	if a.back == nil && a.prot&Write != 0 && a.flags&NoReserve == 0 && n > s.m.maxPrivate() {
		return 0, refuse(syscall.ENOMEM, "%d bytes are more than the machine has", n)
	}
	if !s.areas.free(at, at+n) {
		s.remove(at, at+n)
	}
	a.start, a.end = at, at+n
	a.flags |= s.future
	s.areas.insert(*a)
	s.add(a.counts(n))
	return at, nil
}

var errLimit = refuse(syscall.ENOMEM, "address space is at its limit")

// mayAdd reports whether n more bytes are within the limit; n may be negative.
func (s *Space) mayAdd(n uint64) bool {
	return int64(n) <= 0 || n <= s.limits.AS && s.total <= s.limits.AS-n
}

func (s *Space) add(n uint64) {
	s.total += n
	s.peak = max(s.peak, s.total)
}

// remove unmaps [start,end). Called with mu held.
func (s *Space) remove(start, end uint64) {
	s.total -= s.areas.cut(start, end)
	if _, hi := s.areas.gap(start); hi > s.full.from {
		s.full.from = min(hi, s.mmapTop)
	}
	s.zap(start, end)
	if s.tables <= s.m.SpareTables {
		return
	}
	w := s.m.Programs
	if from := max(start, w.Start); from < min(end, w.End) {
		lo, hi := s.areas.gap(from)
		s.prune(max(lo, w.Start), min(hi, w.End), from, min(end, w.End))
	}
}

// Unmap unmaps the n bytes from addr on, rounded up to pages.
//
// Errors: EINVAL (not whole pages, or not for programs), ENOMEM (it is inside an area, and two would be
// one too many).
func (s *Space) Unmap(addr, n uint64) error {
	end, err := s.rangeOf(addr, n)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.areas.roomFor(s.areas.splits(addr, end)); err != nil {
		return err
	}
	if s.root != nil && !s.areas.free(addr, end) {
		s.remove(addr, end)
	}
	return nil
}

// rangeOf checks a range of mapped pages and returns its end.
func (s *Space) rangeOf(addr, n uint64) (end uint64, err error) {
	if limit := s.m.Programs.End; addr%PageSize != 0 || n == 0 || n > limit || addr > limit-n {
		return 0, refuse(syscall.EINVAL, "%d bytes at %#x: not pages of a program", n, addr)
	}
	return addr + roundUp(n), nil
}

// Protect changes the allowed access to the n bytes from addr on, all of which must be mapped.
//
// Errors: EINVAL (not whole pages, or prot), ENOMEM (part is not mapped; too many areas), EACCES
// (NoWrite).
func (s *Space) Protect(addr, n uint64, prot Prot) error {
	if prot&^(Read|Write|Exec) != 0 {
		return refuse(syscall.EINVAL, "protection %#x", prot)
	}
	end, err := s.rangeOf(addr, n)
	switch {
	case err != nil && n != 0 && addr%PageSize == 0:
		return refuse(syscall.ENOMEM, "%d bytes at %#x are more than is mapped", n, addr)
	case err != nil:
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.areas.covered(addr, end) {
		return refuse(syscall.ENOMEM, "not all of %#x..%#x is mapped", addr, end)
	}
	if err := s.areas.roomFor(2); err != nil {
		return err
	}
	i, j := s.areas.in(addr, end)
	for _, a := range s.areas.areas[i:j] {
		if prot&Write != 0 && a.flags&(Shared|NoWrite) == Shared|NoWrite {
			return errNoWrite
		}
	}
	s.protect(addr, end, prot)
	return nil
}

// protect is Protect without the checks. Called with mu held.
func (s *Space) protect(start, end uint64, prot Prot) {
	s.areas.split(start)
	s.areas.split(end)
	i, j := s.areas.in(start, end)
	lost := false
	for k := i; k < j; k++ {
		a := &s.areas.areas[k]
		a.prot = prot
		s.each(a.start, a.end, func(_ uint64, e *uint64) {
			f := frameOf(*e)
			now := a.bits(f, a.flags&Shared != 0 || s.alone(f))
			lost = lost || loses(*e, now)
			set(e, now)
		})
	}
	if lost {
		s.flush(start, end, false)
	}
	s.areas.join(i, j+1)
}

// loses reports whether an entry allows less than before. A CPU that does not know of an added
// right faults once more, and finds it.
func loses(before, now uint64) bool {
	const rights = amd64.PTE_P | amd64.PTE_W
	return before&rights&^now != 0 || now&^before&amd64.PTE_NX != 0
}
