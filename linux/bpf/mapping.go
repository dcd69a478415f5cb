package sysbpf

import (
	"syscall"

	"sonde/bpf"
	"sonde/kernel/mm/backing"
	"sonde/kernel/refusal"
	"sonde/probe/program"
	"sonde/probe/ring"
)

// Map implements vfs.Mapped, for arrays that were made to be mapped and for ring buffers: of these, the page with
// the reader's position can be written to.
//
// Errors: EINVAL it is another map, the mapping is private, or not inside; EPERM it must not be written to.
func (f *mapFile) Map(off, n uint64, shared, write bool) (backing.Store, bool, error) {
	state, made := f.m.Extra.(*mapState)
	var size uint64
	switch {
	case made && f.m.Shared() != nil:
		size = ring.SharedPages + 2*uint64(f.m.Spec.MaxEntries)
		if write && (off != 0 || n > pageSize) {
			return nil, false, refusal.New(syscall.EPERM, "map %s: only the first page can be written to", f.m.Spec.Name)
		}
	case made && f.m.Spec.Type == bpf.Array && state.flags&mappable != 0:
		size = uint64(f.m.Bytes())
	default:
		return nil, false, refusal.New(syscall.EINVAL, "map %s cannot be mapped", f.m.Spec.Name)
	}
	if !shared || off > size || n > size-off {
		return nil, false, refusal.New(syscall.EINVAL, "map %s: %d bytes at %d: give a shared mapping of its %d bytes", f.m.Spec.Name, n, off, size)
	}
	return state.mapping(f.m, write)
}

// mapping returns the pages, which hold the map as long as there are mappings.
func (s *mapState) mapping(m *program.Map, write bool) (backing.Store, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case write && s.frozen.Load():
		return nil, false, refusal.New(syscall.EPERM, "map %s is frozen", m.Spec.Name)
	case write && s.flags&readProg != 0:
		return nil, false, refusal.New(syscall.EACCES, "map %s: programs only read what is to be frozen", m.Spec.Name)
	}
	if err := program.Hold(m); err != nil {
		return nil, false, err
	}
	if write {
		s.writes++
	}
	p := m.Mapping()
	p.Gone = func() {
		if write {
			s.endWrite()
		}
		program.Release(m)
	}
	p.Hold()
	return p, write, nil
}

// beginWrite begins a call that writes to the map, and returns s.
//
// Errors: EPERM the map is frozen.
func (s *mapState) beginWrite(m *program.Map) (*mapState, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.frozen.Load() {
		return nil, refusal.New(syscall.EPERM, "map %s is frozen", m.Spec.Name)
	}
	s.writes++
	return s, nil
}

// Change is what program.Map.Change does.
func (s *mapState) Change(m *program.Map) (end func(), err error) {
	_, err = s.beginWrite(m)
	return s.endWrite, err
}

// endWrite notes that a call, or a mapping that could be written to, has ended.
func (s *mapState) endWrite() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.writes--
}
