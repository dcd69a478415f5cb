package space

import (
	"sync"
	"sync/atomic"
	"syscall"

	"sonde/kernel/lock"
	"sonde/kernel/mm/backing"
	"sonde/kernel/mm/frame"
	"sonde/kernel/refusal"
)

// A Space is one address space. Make it with Machine.New.
type Space struct {
	m       *Machine
	rootPA  atomic.Uint64
	gen     atomic.Uint64
	mmapTop uint64 // addresses are chosen downwards from here

	mu sync.Mutex
	// guarded by mu:
	root     *words // nil: released
	areas    table
	full     full
	future   Flags // of all areas that will be made: Locked or 0
	limits   Limits
	total    uint64      // bytes in areas, but for the kernel's own
	peak     uint64      // the largest value of total
	resident int         // frames in entries
	tables   int         // frames of page tables, the root included
	recent   [4]struct { // last-level tables that were used lately, by the lowest bits of
		of uint64 // the number of the 2 MiB that it covers
		t  *words
	}
	brkStart uint64 // 0: no heap
	brk      uint64
	breaks   map[uint64][]breakpoint // by page
	text     backing.Text            // the file of the program in it; nil: none
}

// errReleased is the error of calls after Release.
var errReleased = refusal.New(syscall.EFAULT, "the address space is gone")

func refuse(errno syscall.Errno, format string, args ...any) error {
	return refusal.New(errno, format, args...)
}

// New makes an empty space.
//
// Errors: ErrNoMemory.
func (m *Machine) New() (*Space, error) {
	s := &Space{m: m, areas: m.newTable(), limits: Limits{unlimited, unlimited, 8 << 20}}
	s.mmapTop = m.Programs.End - stackRoom
	root, pa, err := s.newTable()
	if err != nil {
		return nil, err
	}
	s.root = root
	s.rootPA.Store(pa)
	if m.KernelHalf != nil {
		m.KernelHalf(root)
	}
	m.spaces.add(s)
	return s, nil
}

// Root is the value for CR3; 0 after Release.
//
// Context: any.
func (s *Space) Root() uint64 { return s.rootPA.Load() }

// Generation counts the changes of page tables that a CPU must not miss: its cached entries of s
// are stale if the count has changed. The counter's address stays the same.
//
// Context: any.
func (s *Space) Generation() *atomic.Uint64 { return &s.gen }

// SetLimits sets the limits of s. Existing areas stay.
func (s *Space) SetLimits(l Limits) { lock.Set(&s.mu, &s.limits, l) }

// Release frees everything that s has. No thread may run in it any more; copies fail from now on. A
// second call does nothing.
func (s *Space) Release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.root == nil {
		return
	}
	s.m.spaces.remove(s)
	if s.m.Retire != nil {
		s.m.Retire(s)
	}
	root := frame.Frame(s.rootPA.Swap(0))
	s.root = nil
	clear(s.recent[:])
	s.freeTables(subtree{root, top})
	for i := range s.areas.areas {
		s.areas.areas[i].drop()
	}
	if s.text != nil {
		s.text.Allow()
		s.text = nil
	}
	s.areas.delete(0, len(s.areas.areas))
	s.areas, s.total, s.brkStart, s.brk, s.breaks = s.m.newTable(), 0, 0, 0, nil
}

// Fork returns a copy of s. Private pages are copied when one of the two spaces writes to them.
//
// Errors: ErrNoMemory; ENOMEM if all spaces would have too many areas.
func (s *Space) Fork() (*Space, error) {
	child, err := s.m.New()
	if err != nil {
		return nil, err
	}
	whole := false
	defer func() {
		if !whole {
			child.Release()
		}
	}()
	s.mu.Lock()
	defer s.mu.Unlock()
	child.mu.Lock() // Cut finds it already
	defer child.mu.Unlock()
	if s.root == nil {
		return nil, errReleased
	}
	child.limits, child.total, child.peak = s.limits, s.total, s.total
	child.brkStart, child.brk = s.brkStart, s.brk
	if err := s.areas.roomInAll(len(s.areas.areas)); err != nil {
		return nil, err
	}
	s.shareAreas(child)
	if err := s.shareText(child); err != nil {
		return nil, err
	}
	if err := s.sharePages(child); err != nil {
		return nil, err
	}
	whole = true
	return child, nil
}

// shareAreas gives child, which is empty, the areas of s that a fork copies. Locks are not
// inherited. Called with mu held.
func (s *Space) shareAreas(child *Space) {
	child.areas.areas = make(areas, 0, len(s.areas.areas))
	for _, a := range s.areas.areas {
		if a.flags&NotForked != 0 {
			child.total -= a.counts(a.end - a.start)
			continue
		}
		a.flags &^= Locked
		a.hold()
		child.areas.areas = append(child.areas.areas, a)
	}
	child.areas.buf = child.areas.areas
	child.areas.sum.Add(int64(len(child.areas.areas)))
	if child.full = s.full; len(child.areas.areas) < len(s.areas.areas) {
		child.full = full{}
	}
}

// Runs sets the file of the program in s. It cannot be written to until s and all spaces that are
// forked from it are released.
//
// Errors: ETXTBSY.
func (s *Space) Runs(text backing.Text) error {
	if err := text.Deny(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.text = text
	return nil
}

// shareText gives child the file of the program in s. Called with mu held.
func (s *Space) shareText(child *Space) error {
	if s.text == nil {
		return nil
	}
	child.text = s.text
	return s.text.Deny() // s has denied writing already, so this succeeds
}

// copyClean gives child a copy of the page in e without breakpoints, which belong to s only. Called
// with mu held.
func (s *Space) copyClean(child *Space, a *area, addr, e uint64, to *uint64) error {
	c, err := s.copyOf(frameOf(e))
	if err != nil {
		return err
	}
	s.clean(s.m.Frames.Bytes(c), addr)
	child.resident++
	set(to, a.bits(c, true))
	return nil
}

// sharePages puts the pages of s into child, too, and makes the private ones read-only in both.
// Called with mu held.
func (s *Space) sharePages(child *Space) (err error) {
	taken := false
	for i := range s.areas.areas {
		a := &s.areas.areas[i]
		if a.flags&(NotForked|Wiped) != 0 {
			continue
		}
		s.each(a.start, a.end, func(addr uint64, e *uint64) {
			if err != nil {
				return
			}
			var to *uint64
			if to, err = child.entry(addr); err != nil {
				return
			}
			if s.breaks[addr] != nil && a.flags&Shared == 0 {
				err = s.copyClean(child, a, addr, *e, to)
				return
			}
			if a.flags&Shared == 0 && *e&pteW != 0 {
				set(e, *e&^uint64(pteW))
				taken = true
			}
			s.ref(frameOf(*e))
			child.resident++
			set(to, *e)
		})
	}
	if taken {
		s.flush(0, unlimited, false)
	}
	return err
}
