package program

import (
	"sync/atomic"
	"syscall"
	"unsafe"

	"sonde/bpf"
	"sonde/kernel/refusal"
)

// Maps of maps: a value is the address of a Map, which is kept in inner as long as a program may have it.

// Put makes of what is at a key of a map of maps; nil: nothing.
//
// Errors: EINVAL the map has no maps, or of is not what its spec says; E2BIG there is no such place; ENOENT
// there is nothing that could be taken away; EBUSY as of Update.
//
// Context: goroutine; it waits for a grace period if something was there.
func (m *Map) Put(key []byte, of *Map) error {
	if !m.maps || len(key) != int(m.Spec.KeySize) {
		return refusal.New(syscall.EINVAL, "map %s: a key of %d bytes for a map: it is a %s of %d bytes", m.Spec.Name, len(key), m.Spec.Type, m.Spec.KeySize)
	}
	if of != nil && (!suits(&of.Spec, m.Spec.Inner) || of.is(bpf.RingBuf) && of.owned != m.owned) {
		return refusal.New(syscall.EINVAL, "map %s: map %s is not what programs expect in it", m.Spec.Name, of.Spec.Name)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if of != nil {
		of.use(1)
	}
	if errno := m.set(key, of); errno != 0 {
		if of != nil {
			of.use(-1)
		}
		return m.failed("put", key, errno)
	}
	old := m.inner[string(key)]
	if m.inner == nil {
		m.inner = map[string]*Map{}
	}
	if of != nil {
		m.inner[string(key)] = of
	} else {
		delete(m.inner, string(key))
	}
	if old != nil {
		synchronize()
		old.use(-1)
	}
	return nil
}

// set stores the address of a map.
func (m *Map) set(key []byte, of *Map) syscall.Errno {
	word := uintptr(unsafe.Pointer(of))
	switch {
	case of == nil && m.inner[string(key)] == nil:
		return syscall.ENOENT
	case of == nil && m.isHash():
		return m.removeWhole(m.base, at(key))
	}
	return m.updateWhole(m.base, at(key), unsafe.Pointer(&word), Any)
}

// Inner returns the map at a key of a map of maps; nil: there is none.
func (m *Map) Inner(key []byte) *Map {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.inner[string(key)]
}

// suits reports whether a map is what the verifier has taken for granted.
func suits(s, want *bpf.MapSpec) bool {
	return s.Type == want.Type && s.KeySize == want.KeySize && s.ValueSize == want.ValueSize && s.Flags == want.Flags && s.MaxEntries <= want.MaxEntries
}

// mapIn returns the map whose address is at p, 0: there is none. It is for programs.
//
//go:nosplit
func mapIn(p unsafe.Pointer) uintptr {
	if p == nil {
		return 0
	}
	return uintptr((*atomic.Uint64)(p).Load())
}
