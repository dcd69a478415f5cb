package program

import (
	"sync"
	"sync/atomic"
	"syscall"
	"unsafe"

	"sonde/arch/amd64/trap"
	"sonde/bpf"
	"sonde/kernel/cpu/percpu"
	"sonde/kernel/refusal"
	"sonde/probe/ring"
)

// A Map is what programs keep, and what goroutines read. It is one table, or one for each CPU.
type Map struct {
	ID    int
	Spec  bpf.MapSpec
	Extra any // of whoever made it

	// Written once by NewMap. Programs find values through these.
	memory []byte
	base   unsafe.Pointer // of the first table
	each   uintptr        // from one CPU's table to the next; 0: there is one
	near   percpu.Offset  // of a small per-CPU array: the distance of each table from its CPU's GS base; 0: elsewhere
	low    *lowPiece      // of a small array: where it is; nil: elsewhere
	stride uintptr        // from one entry of a table to the next
	value  uintptr        // of a hash: where in an entry the value is
	mask   uint64         // of a hash: places of a table, less 1
	shift  uint8          // of a hash: what a key's hash is shifted by to become its home
	first  percpu.Offset  // of a per-CPU hash: where at each GS base the address of the CPU's first place is; 0: nowhere
	room   uint32         // of stacks: how many there can be
	stacks bool           // it has stacks
	maps   bool           // it has maps
	newest bool           // of values without keys: the newest is next
	size   uint32         // of a value, as it is kept
	bits   uint32         // of a trie: the longest prefix; 0: it is none
	steps  uint32         // of a trie: nodes that a lookup goes through at most
	used   uintptr        // of a hash that evicts: where in an entry it is noted when it was used last
	ring   *ring.Ring
	shared *ring.Shared  // of a ring buffer that a process has made
	owned  bool          // a process has made it: see NewProcessMap
	lost   atomic.Uint64 // what did not fit

	mu sync.Mutex
	// guarded by mu:
	users  int                   // programs, files that stand for it, and maps that it is in
	closed bool                  // nothing but these uses it any more
	inner  map[string]*Map       // of a map of maps: what is in it, by key
	perfs  map[uint32]*ring.Perf // of a perf event array that a process has made
	held   int                   // of users, what Hold and files have added
	progs  map[uint32]*Prog      // of a program array

	// guarded by families:
	family *family // of a program array: whose it is for; nil: it is not known yet
}

// Limits of what a map is made of, in bytes. Helpers take time by them.
const (
	maxKey   = 512
	maxValue = 32 << 10
)

// NewMap makes a map.
//
// Errors: EINVAL the kind is not known here, or a size does not fit it; ENOMEM there is no memory.
func NewMap(s bpf.MapSpec) (*Map, error) { return makeMap(&Map{Spec: s}) }

// NewProcessMap is NewMap for a process, which can map the memory: a ring buffer is a ring.Shared, and a perf
// event array has a *ring.Perf at each index (SetPerf). Extra is the caller's.
func NewProcessMap(s bpf.MapSpec, extra any) (*Map, error) {
	return makeMap(&Map{Spec: s, Extra: extra, owned: true})
}

func makeMap(m *Map) (_ *Map, err error) {
	if s := &m.Spec; s.Inner != nil {
		inner := *s.Inner // this map's alone, so that it is taken for no other map
		s.Inner = &inner
	}
	parts := 1
	size, err := m.layout()
	if err != nil {
		return nil, err
	}
	if m.perCPU() || m.isRing() && !m.owned {
		parts = cpus()
	}
	if m.perCPU() {
		m.each = size
	}
	if !m.takeNear(size) && !m.takeLow(size) {
		if m.memory, err = memory.alloc(parts * int(size)); err != nil {
			return nil, err
		}
		m.base = unsafe.Pointer(unsafe.SliceData(m.memory))
	}
	switch {
	case m.owned && m.is(bpf.RingBuf):
		m.shared = ring.NewShared(m.memory)
	case m.isRing() && !m.owned:
		// Safe because: the memory is aligned to pages, and of whole words.
		m.ring = ring.On(unsafe.Slice((*uint64)(m.base), len(m.memory)/wordSize), parts, m.ringSize())
	}
	m.pointNear()
	allMaps.add(m)
	return m, nil
}

// pointNear puts the address of a per-CPU hash's places where fused programs find it, if there is room.
func (m *Map) pointNear() {
	if !m.is(bpf.PerCPUHash) || m.Spec.KeySize%wordSize != 0 || m.Spec.KeySize > fusedKey {
		return
	}
	off, err := percpu.Take(wordSize)
	if err != nil {
		return
	}
	m.first = off
	for cpu := range cpus() {
		*(*uintptr)(percpu.At(off, cpu)) = uintptr(m.table(cpu)) + tableSize
	}
}

// mostNear is how many bytes a table has at most that is at its CPU's GS base.
const mostNear = 4 << 10

// takeNear puts the tables of a small per-CPU array where a CPU finds its own without computing an address, if there
// is room.
func (m *Map) takeNear(size uintptr) bool {
	if !m.is(bpf.PerCPUArray) || size > mostNear {
		return false
	}
	off, err := percpu.Take(int(size))
	if err != nil {
		return false
	}
	m.near, m.base, m.each = off, percpu.At(off, 0), trap.AreaSize
	m.memory = unsafe.Slice((*byte)(m.base), size)
	return true
}

const wordSize = 8

func words(n uint32) uintptr { return (uintptr(n) + wordSize - 1) / wordSize * wordSize }

// noPrealloc is Linux's BPF_F_NO_PREALLOC, which makes no difference here.
const noPrealloc = 1

// lineSize is that of a cache line.
const lineSize = 64

// Tables is how many there are: one, or one for each CPU.
func (m *Map) Tables() int {
	if m.perCPU() {
		return cpus()
	}
	return 1
}

// Bytes is how much memory the map takes.
func (m *Map) Bytes() int {
	if m.near != 0 {
		return len(m.memory) * cpus()
	}
	return len(m.memory)
}

// Lost is how often something did not fit, into a table or into the ring.
func (m *Map) Lost() uint64 {
	n := m.lost.Load()
	if m.ring != nil {
		n += m.ring.Ledger().Lost
	}
	if m.shared != nil {
		_, lost := m.shared.Counts()
		n += lost
	}
	return n
}

// Close gives the map up. Its memory is freed when no program uses it.
//
// Context: goroutine; nothing reads or writes the map any more.
func (m *Map) Close() {
	m.mu.Lock()
	m.closed = true
	m.leave()
}

// leave empties a program array that nothing holds, frees the map if no user is left, and gives mu up, with which
// it is called.
func (m *Map) leave() {
	left := m.abandon()
	m.drop()
	m.mu.Unlock()
	for _, p := range left {
		p.release()
	}
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
	if m.memory == nil {
		m.mu.Unlock()
		return refusal.New(syscall.EBADF, "map %s is closed", m.Spec.Name)
	}
	m.users += n
	m.held += n
	m.leave()
	return nil
}

// drop frees the memory if no user is left. Called with mu held.
func (m *Map) drop() {
	if m.closed && m.users == 0 && m.memory != nil {
		switch {
		case m.near != 0:
			percpu.Give(m.near, len(m.memory))
		case m.low != nil:
			m.low.give()
		default:
			memory.free(m.memory)
		}
		if m.first != 0 {
			percpu.Give(m.first, wordSize)
		}
		m.memory, m.base = nil, nil
		allMaps.remove(m)
		for _, of := range m.inner {
			of.use(-1)
		}
		m.inner, m.perfs = nil, nil
		tell(m.Extra)
	}
}
