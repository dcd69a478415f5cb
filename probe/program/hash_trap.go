package program

// Trap context: see map_trap.go. Hash tables.
//
// An entry is looked for from its key's home on, up to the first place that was never used, at probes
// places at most. Its word says what is there. Looking up takes no lock. What adds or removes a key holds
// the lock of this key, one of locks of the table, so that no key is there twice; the place itself is
// taken by compare and swap, since other keys want it, too. A lock is tried for a while and then given
// up, as nothing can wait here: its holder may be a goroutine, with interrupts off, or a program that was
// interrupted. The word of a place changes with each use of it; what has copied an entry, or compared a
// key, looks at it once more.

import (
	"sync/atomic"
	"syscall"
	"unsafe"
)

// What is at a place: the low bits of its word. The others count its uses. One bit says that there is a key.
const (
	unused    = 0 // never used
	filling   = 1 // an entry is being written
	deleted   = 2
	full      = 4
	stateMask = 7
)

const (
	probes = 64  // places that are looked at
	locks  = 64  // of a table
	tries  = 256 // of a lock

	lockShift = 58 // of a hash: what is left is the number of its lock
)

// table is the head of a hash table, before its places.
type table struct {
	entries atomic.Int64
	clock   atomic.Uint64 // of a table that evicts: how many keys were added
	_       [lineSize - 16]byte
	locks   [locks]atomic.Uint32
}

const tableSize = unsafe.Sizeof(table{})

// entry is a place. The key and the value follow.
type entry struct{ word atomic.Uint64 }

// entry returns a place of a table. Safe because: the memory has mask+1 of them.
//
//go:nosplit
func (m *Map) entry(t unsafe.Pointer, i uint64) *entry {
	return (*entry)(unsafe.Add(t, tableSize+uintptr(i&m.mask)*m.stride))
}

// home returns the number of a key's home, by its hash.
//
//go:nosplit
func (m *Map) home(h uint64) uint64 { return h >> (m.shift & 63) }

// hash returns a key's. The highest bits choose its home, and its lock. Machine code computes it as well: see Map.table in
// fuse.go.
//
//go:nosplit
func (m *Map) hash(key unsafe.Pointer) uint64 {
	h := uint64(0)
	for i, n := uint32(0), m.Spec.KeySize; i < n; i += wordSize {
		h = mix(h ^ word(unsafe.Add(key, i), n-i))
	}
	return h
}

// hashOf is hash of an entry's key, which may be changing.
//
//go:nosplit
func (m *Map) hashOf(e *entry) uint64 {
	h := uint64(0)
	for i := uintptr(wordSize); i < m.value; i += wordSize {
		h = mix(h ^ (*atomic.Uint64)(unsafe.Add(unsafe.Pointer(e), i)).Load())
	}
	return h
}

// goldenRatio divides 2^64.
const goldenRatio = 0x9e3779b97f4a7c15

//go:nosplit
func mix(h uint64) uint64 {
	h *= goldenRatio
	return h ^ h>>32
}

// equal reports whether an entry has a key.
//
//go:nosplit
func (m *Map) equal(e *entry, key unsafe.Pointer) bool {
	for i, n := uint32(0), m.Spec.KeySize; i < n; i += wordSize {
		if (*atomic.Uint64)(unsafe.Add(unsafe.Pointer(e), wordSize+i)).Load() != word(unsafe.Add(key, i), n-i) {
			return false
		}
	}
	return true
}

// findEntry returns the entry of a key, nil if there is none.
//
//go:nosplit
func (m *Map) findEntry(t *table, key unsafe.Pointer) *entry {
	if m.Spec.KeySize == wordSize {
		return m.findWord(t, *(*uint64)(key))
	}
	home := m.home(m.hash(key))
	for i := range uint64(probes) {
		e := m.entry(unsafe.Pointer(t), home+i)
		w := e.word.Load()
		if w&stateMask == unused {
			return nil
		}
		if w&stateMask == full && m.equal(e, key) && e.word.Load() == w {
			return e
		}
	}
	return nil
}

// findWord is findEntry for a key of 8 bytes, as most are: it takes 35 instructions less.
//
//go:nosplit
func (m *Map) findWord(t *table, key uint64) *entry {
	home := m.home(mix(key))
	for i := range uint64(probes) {
		e := m.entry(unsafe.Pointer(t), home+i)
		w := e.word.Load()
		if w&stateMask == unused {
			return nil
		}
		if w&stateMask == full && (*atomic.Uint64)(unsafe.Add(unsafe.Pointer(e), wordSize)).Load() == key && e.word.Load() == w {
			return e
		}
	}
	return nil
}

// lock takes the lock of a key; nil: it cannot be had.
//
//go:nosplit
func (t *table) lock(h uint64) *atomic.Uint32 {
	l := &t.locks[h>>lockShift]
	for range tries {
		if l.CompareAndSwap(0, 1) {
			return l
		}
	}
	return nil
}

// updateEntry sets the value of a key, which it adds if it is not there.
//
//go:nosplit
func (m *Map) updateEntry(t *table, key, value unsafe.Pointer, how uint64) syscall.Errno {
	if how == NoExist && m.findEntry(t, key) != nil {
		return syscall.EEXIST // as a rule, and without the lock
	}
	h := m.hash(key)
	l := t.lock(h)
	if l == nil {
		m.lost.Add(1)
		return syscall.EBUSY
	}
	errno := syscall.Errno(0)
	switch e := m.findEntry(t, key); {
	case e != nil && how == NoExist:
		errno = syscall.EEXIST
	case e != nil:
		m.touch(t, e)
		store(unsafe.Add(unsafe.Pointer(e), m.value), value, m.size)
	case how == Exist:
		errno = syscall.ENOENT
	default:
		errno = m.insert(t, h, key, value)
	}
	l.Store(0)
	return errno
}

// insert adds a key, whose lock is held and which is not there.
//
//go:nosplit
func (m *Map) insert(t *table, h uint64, key, value unsafe.Pointer) syscall.Errno {
	if t.entries.Add(1) <= int64(m.Spec.MaxEntries) && m.place(t, h, key, value) {
		return 0
	}
	if m.used != 0 && m.evict(t, h) && m.place(t, h, key, value) {
		return 0
	}
	t.entries.Add(-1)
	m.lost.Add(1)
	return syscall.E2BIG
}

// place puts a key where there is room near its home; false: there is none.
//
//go:nosplit
func (m *Map) place(t *table, h uint64, key, value unsafe.Pointer) bool {
	home := m.home(h)
	for i := range uint64(probes) {
		e := m.entry(unsafe.Pointer(t), home+i)
		next, ok := e.claim(e.word.Load())
		if !ok {
			continue
		}
		store(unsafe.Add(unsafe.Pointer(e), wordSize), key, m.Spec.KeySize)
		store(unsafe.Add(unsafe.Pointer(e), m.value), value, m.size)
		if m.used != 0 {
			m.lastUse(e).Store(t.clock.Add(1))
		}
		e.word.Store(next | full)
		return true
	}
	return false
}

// claim takes an entry in which there is no key, if its word is still w: other CPUs may be looking for room
// for other keys. It returns the word that the entry gets, less its state.
//
//go:nosplit
func (e *entry) claim(w uint64) (next uint64, ok bool) {
	if s := w & stateMask; s != unused && s != deleted {
		return 0, false
	}
	next = w&^stateMask + stateMask + 1
	return next, e.word.CompareAndSwap(w, next|filling)
}

// removeEntry removes a key.
//
//go:nosplit
func (m *Map) removeEntry(t *table, key unsafe.Pointer) syscall.Errno {
	l := t.lock(m.hash(key))
	if l == nil {
		m.lost.Add(1)
		return syscall.EBUSY
	}
	errno := syscall.ENOENT
	if e := m.findEntry(t, key); e != nil {
		e.word.Store(e.word.Load()&^stateMask | deleted)
		t.entries.Add(-1)
		errno = 0
	}
	l.Store(0)
	return errno
}

// copyEntry copies what was in an entry when its word was w: the value, and the key unless that is nil.
// False: it is gone.
//
//go:nosplit
func (m *Map) copyEntry(e *entry, w uint64, key, value unsafe.Pointer) bool {
	if key != nil {
		load(key, unsafe.Add(unsafe.Pointer(e), wordSize), m.Spec.KeySize)
	}
	load(value, unsafe.Add(unsafe.Pointer(e), m.value), m.size)
	return e.word.Load() == w
}
