package space

import (
	"maps"
	"slices"
	"sync"

	"sonde/kernel/mm/backing"
)

// registry is the existing spaces of a machine. The zero value is ready.
type registry struct {
	mu sync.Mutex
	// guarded by mu:
	all map[*Space]bool
}

func (r *registry) add(s *Space) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.all == nil {
		r.all = make(map[*Space]bool)
	}
	r.all[s] = true
}

func (r *registry) remove(s *Space) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.all, s)
}

func (r *registry) list() []*Space {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Collect(maps.Keys(r.all))
}

// Cut removes the pages of b from page on from all spaces that map them, also the private copies:
// the file has become shorter. b must refuse those pages before Cut is called.
//
// It asks each space. A list of mappings for each file would cost time in each fork and exec;
// mapped files are hardly ever truncated.
//
// A space that is forked meanwhile may give the child pages that it had at that time, so Cut looks
// for new spaces until there are none.
//
// Context: goroutine, without a lock that Frame takes.
func (m *Machine) Cut(b backing.Store, page uint64) {
	done := map[*Space]bool{}
	for more := true; more; {
		more = false
		for _, s := range m.spaces.list() {
			if !done[s] {
				s.cutOff(b, page)
				done[s], more = true, true
			}
		}
	}
}

func (s *Space) cutOff(b backing.Store, page uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.areas.areas {
		a := &s.areas.areas[i]
		if a.back != b {
			continue
		}
		start := a.start
		if first := a.off / PageSize; page > first {
			if page-first >= (a.end-a.start)/PageSize {
				continue
			}
			start += (page - first) * PageSize
		}
		s.zap(start, a.end)
	}
}
