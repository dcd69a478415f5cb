package kbpf

import (
	"math/bits"
	"sync"
	"sync/atomic"
	"syscall"
	"unsafe"

	"sonde/bpf"
	"sonde/kernel/refusal"
	"sonde/kernel/ring"
)

// A Map is what programs keep, and what goroutines read. It is one table, or one for each CPU.
type Map struct {
	ID   int
	Spec bpf.MapSpec

	// Written once by NewMap. Programs find values through these.
	memory []byte
	base   unsafe.Pointer // of the first table
	each   uintptr        // from one CPU's table to the next; 0: there is one
	stride uintptr        // from one entry of a table to the next
	value  uintptr        // of a hash: where in an entry the value is
	mask   uint64         // of a hash: places of a table, less 1
	ring   *ring.Ring
	lost   atomic.Uint64 // what did not fit

	mu sync.Mutex
	// guarded by mu:
	users  int  // programs, and files that stand for it
	closed bool // nobody but programs uses it any more
}

// Limits of what a map is made of, in bytes. Helpers take time by them.
const (
	maxKey   = 512
	maxValue = 32 << 10
)

// NewMap makes a map.
//
// Errors: EINVAL the kind is not known here, or a size does not fit it; ENOMEM there is no memory.
func NewMap(s bpf.MapSpec) (*Map, error) {
	m := &Map{Spec: s}
	parts := 1
	size, err := m.layout()
	if err != nil {
		return nil, err
	}
	if m.perCPU() || s.Type == bpf.RingBuf {
		parts = cpus()
	}
	if m.perCPU() {
		m.each = size
	}
	if m.memory, err = memory.alloc(parts * int(size)); err != nil {
		return nil, err
	}
	m.base = unsafe.Pointer(unsafe.SliceData(m.memory))
	if s.Type == bpf.RingBuf {
		// Safe because: the memory is aligned to pages, and of whole words.
		m.ring = ring.On(unsafe.Slice((*uint64)(m.base), len(m.memory)/wordSize), parts, int(s.MaxEntries))
	}
	allMaps.add(m)
	return m, nil
}

const wordSize = 8

func words(n uint32) uintptr { return (uintptr(n) + wordSize - 1) / wordSize * wordSize }

// layout returns how many bytes a table takes.
func (m *Map) layout() (size uintptr, err error) {
	s := &m.Spec
	no := func(format string, args ...any) (uintptr, error) {
		return 0, refusal.New(syscall.EINVAL, "map "+s.Name+": "+format, args...)
	}
	if s.Type == bpf.RingBuf {
		if s.KeySize != 0 || s.ValueSize != 0 {
			return no("a ring has no keys and values: give sizes of 0")
		}
		return uintptr(ring.Space(int(s.MaxEntries))), ring.Fits(int(s.MaxEntries))
	}
	switch {
	case s.Flags&^(noPrealloc|bpf.ReadOnlyProgram|bpf.WriteOnlyProgram) != 0:
		return no("flags %#x are not known", s.Flags)
	case s.ValueSize == 0 || s.ValueSize > maxValue:
		return no("values of %d bytes: give 1 to %d", s.ValueSize, maxValue)
	case s.MaxEntries == 0 || s.MaxEntries > 1<<30:
		return no("%d entries: give 1 to %d", s.MaxEntries, 1<<30)
	}
	switch s.Type {
	case bpf.Array, bpf.PerCPUArray:
		if s.KeySize != 4 {
			return no("keys of %d bytes: an array is indexed by 4", s.KeySize)
		}
		m.stride = words(s.ValueSize)
		return (m.stride*uintptr(s.MaxEntries) + lineSize - 1) / lineSize * lineSize, nil
	case bpf.Hash, bpf.PerCPUHash:
		if s.KeySize == 0 || s.KeySize > maxKey {
			return no("keys of %d bytes: give 1 to %d", s.KeySize, maxKey)
		}
		places := uint64(1) << bits.Len32(2*s.MaxEntries-1) // half full at most
		m.value = wordSize + words(s.KeySize)
		m.stride, m.mask = m.value+words(s.ValueSize), places-1
		return (tableSize + m.stride*uintptr(places) + lineSize - 1) / lineSize * lineSize, nil
	}
	return no("there are no maps of type %d %s: give hash, array, percpu_hash, percpu_array or ringbuf", s.Type, s.Type)
}

// noPrealloc is Linux's BPF_F_NO_PREALLOC, which makes no difference here.
const noPrealloc = 1

// lineSize is that of a cache line.
const lineSize = 64

func (m *Map) isArray() bool { return m.Spec.Type == bpf.Array || m.Spec.Type == bpf.PerCPUArray }
func (m *Map) perCPU() bool  { return m.Spec.Type == bpf.PerCPUHash || m.Spec.Type == bpf.PerCPUArray }

// Tables is how many there are: one, or one for each CPU.
func (m *Map) Tables() int {
	if m.perCPU() {
		return cpus()
	}
	return 1
}

// Bytes is how much memory the map takes.
func (m *Map) Bytes() int { return len(m.memory) }

// Lost is how often something did not fit, into a table or into the ring.
func (m *Map) Lost() uint64 {
	n := m.lost.Load()
	if m.ring != nil {
		n += m.ring.Ledger().Lost
	}
	return n
}

// Close gives the map up. Its memory is freed when no program uses it.
//
// Context: goroutine; nobody reads or writes the map any more.
func (m *Map) Close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed = true
	m.drop()
}

// use adds a program that uses the map, or takes it away after a grace period.
func (m *Map) use(n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.users += n
	m.drop()
}

// keep is part of Object.
func (m *Map) keep(n int) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.memory == nil {
		return refusal.New(syscall.EBADF, "map %s is closed", m.Spec.Name)
	}
	m.users += n
	m.drop()
	return nil
}

// drop frees the memory if nobody is left. Called with mu held.
func (m *Map) drop() {
	if m.closed && m.users == 0 && m.memory != nil {
		memory.free(m.memory)
		m.memory, m.base = nil, nil
		allMaps.remove(m)
	}
}
