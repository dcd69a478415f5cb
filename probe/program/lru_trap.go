package program

// Trap context: see map_trap.go. Hashes that make room for a new key by removing one that was not used for
// long: of those at the places where the new one can be. Each entry has the time of its last use, counted in
// keys that were added.

import (
	"sync/atomic"
	"unsafe"
)

// lastUse is when an entry was used last.
//
//go:nosplit
func (m *Map) lastUse(e *entry) *atomic.Uint64 {
	return (*atomic.Uint64)(unsafe.Add(unsafe.Pointer(e), m.used))
}

// touch notes that an entry is used.
//
//go:nosplit
func (m *Map) touch(t *table, e *entry) {
	if m.used == 0 {
		return
	}
	if now, at := t.clock.Load(), m.lastUse(e); at.Load() != now {
		at.Store(now)
	}
}

// evict removes the entry that was not used for the longest time, among those at the places of a key whose
// lock is held; false: there is none, or another CPU is changing it.
//
//go:nosplit
func (m *Map) evict(t *table, h uint64) bool {
	var oldest *entry
	var word, since uint64
	home := m.home(h)
	for i := range min(probes, m.mask+1) {
		e := m.entry(unsafe.Pointer(t), home+i)
		w := e.word.Load()
		if at := m.lastUse(e).Load(); w&stateMask == full && (oldest == nil || at < since) {
			oldest, word, since = e, w, at
		}
	}
	if oldest == nil {
		return false
	}
	of := m.hashOf(oldest) >> lockShift
	l := &t.locks[of]
	if of != h>>lockShift && !l.CompareAndSwap(0, 1) {
		return false
	}
	removed := oldest.word.CompareAndSwap(word, word&^stateMask|deleted)
	if removed {
		t.entries.Add(-1)
	}
	if of != h>>lockShift {
		l.Store(0)
	}
	return removed
}
