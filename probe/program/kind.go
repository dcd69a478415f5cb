package program

import (
	"math/bits"
	"slices"
	"syscall"
	"unsafe"

	"sonde/bpf"
	"sonde/kernel/refusal"
	"sonde/probe/ring"
)

// What kinds of maps have in common.

//go:noinline
func (m *Map) is(kinds ...bpf.MapType) bool { return slices.Contains(kinds, m.Spec.Type) }

func (m *Map) isHash() bool {
	return m.is(bpf.Hash, bpf.PerCPUHash, bpf.LRUHash, bpf.LRUPerCPUHash, bpf.HashOfMaps)
}

// hasWords reports whether helpLookupWord can look into the map, which may be nil.
func (m *Map) hasWords() bool {
	return m != nil && m.is(bpf.Hash, bpf.PerCPUHash) && m.Spec.KeySize == wordSize
}

func (m *Map) isArray() bool   { return m.is(bpf.Array, bpf.PerCPUArray, bpf.ArrayOfMaps) }
func (m *Map) isRing() bool    { return m.is(bpf.RingBuf, bpf.PerfEventArray) }
func (m *Map) isTrie() bool    { return m.is(bpf.LPMTrie) }
func (m *Map) isQueue() bool   { return m.is(bpf.Queue, bpf.Stack) }
func (m *Map) hasMaps() bool   { return m.is(bpf.ArrayOfMaps, bpf.HashOfMaps) }
func (m *Map) hasStacks() bool { return m.is(bpf.StackTrace) }

// hasValues reports whether values can be copied by their keys.
func (m *Map) hasValues() bool {
	return !m.isRing() && !m.isQueue() && !m.maps && !m.is(bpf.ProgArray)
}

func (m *Map) perCPU() bool { return m.is(bpf.PerCPUHash, bpf.PerCPUArray, bpf.LRUPerCPUHash) }

// ringSize is how many bytes a CPU's part of a ring has. That of a perf event array is Linux's default for
// what perf maps, 16 pages.
func (m *Map) ringSize() int {
	if m.is(bpf.PerfEventArray) {
		return 64 << 10
	}
	return int(m.Spec.MaxEntries)
}

// layout returns how many bytes a table takes.
func (m *Map) layout() (size uintptr, err error) {
	s := &m.Spec
	switch {
	case s.Type.String() == "":
		return m.no("there are no maps of type %d", s.Type)
	case s.Flags&^(noPrealloc|bpf.ReadOnlyProgram|bpf.WriteOnlyProgram) != 0:
		return m.no("flags %#x are not known", s.Flags)
	case m.hasMaps() && s.Inner != nil && s.Inner.Type == bpf.ProgArray:
		return m.no("a map of maps has no %s in it: whose programs that has is not known before", s.Inner.Type)
	case m.hasMaps() != (s.Inner != nil) || m.hasMaps() && s.Inner.Inner != nil:
		return m.no("a map of maps, and no other, says what these are like, which have none in them")
	case s.Type == bpf.RingBuf:
		if s.KeySize != 0 || s.ValueSize != 0 {
			return m.no("a ring has no keys and values: give sizes of 0")
		}
		if m.owned {
			return uintptr(ring.SharedPages + s.MaxEntries), ring.FitsShared(int(s.MaxEntries))
		}
		return uintptr(ring.Space(int(s.MaxEntries))), ring.Fits(int(s.MaxEntries))
	case s.MaxEntries == 0 || s.MaxEntries > 1<<30:
		return m.no("%d entries: give 1 to %d", s.MaxEntries, 1<<30)
	}
	if err := m.fits(); err != nil {
		return 0, err
	}
	m.size, m.stacks, m.maps = s.ValueSize, m.hasStacks(), m.hasMaps()
	m.newest = m.is(bpf.Stack)
	if m.maps {
		m.size = wordSize
	}
	switch {
	case m.is(bpf.ProgArray):
		m.stride = views * wordSize
		return lines(m.stride * uintptr(s.MaxEntries)), nil
	case m.isRing() && m.owned:
		m.stride = wordSize
		return lines(m.stride * uintptr(s.MaxEntries)), nil
	case m.isRing():
		return uintptr(ring.Space(m.ringSize())), nil
	case m.isArray():
		m.stride = words(s.ValueSize)
		return lines(m.stride * uintptr(s.MaxEntries)), nil
	case m.isQueue():
		m.stride = words(s.ValueSize)
		return lines(unsafe.Sizeof(queue{}) + m.stride*uintptr(s.MaxEntries)), nil
	case m.hasStacks():
		m.stride = wordSize + words(s.ValueSize)
		m.room = uint32(min(uintptr(s.MaxEntries), mostStacks/m.stride))
		return lines(m.stride * uintptr(m.room)), nil
	}
	if m.isTrie() {
		m.bits = 8 * (s.KeySize - shortestKey + 1)
		m.steps = min(m.bits+1, 2*s.MaxEntries) + spareSteps
		m.value = nodeSize + words(s.KeySize)
		m.stride = m.value + words(s.ValueSize)
		return lines(trieSize + m.stride*2*uintptr(s.MaxEntries)), nil
	}
	home := bits.Len32(2*s.MaxEntries - 1)
	places := uint64(1) << home // half full at most
	m.shift = uint8(64 - home)
	m.value = wordSize + words(s.KeySize)
	m.stride, m.mask = m.value+words(s.ValueSize), places-1
	if m.is(bpf.LRUHash, bpf.LRUPerCPUHash) {
		m.used = m.stride
		m.stride += wordSize
	}
	if m.is(bpf.PerCPUHash) {
		places += fusedPlaces - 1 // never used
	}
	return lines(tableSize + m.stride*uintptr(places)), nil
}

// Sizes of keys of a trie, in bytes.
const shortestKey, longestKey = 4 + 1, 4 + 256

// mostStacks is how many bytes the stacks of a map take. bpftrace asks for 131,072 stacks of 127 calls, 133 MB,
// whatever it needs.
const mostStacks = 16 << 20

// lines is n bytes in whole cache lines.
func lines(n uintptr) uintptr { return (n + lineSize - 1) / lineSize * lineSize }

func (m *Map) no(format string, args ...any) (uintptr, error) {
	return 0, refusal.New(syscall.EINVAL, "map "+m.Spec.Name+": "+format, args...)
}

// fits checks the sizes of keys and values.
func (m *Map) fits() (err error) {
	s := &m.Spec
	switch {
	case m.isQueue() && s.KeySize != 0:
		_, err = m.no("keys of %d bytes: a %s has no keys", s.KeySize, s.Type)
	case m.isTrie() && (s.KeySize < shortestKey || s.KeySize > longestKey):
		_, err = m.no("keys of %d bytes: give %d to %d, 4 for how long the prefix is, and its own", s.KeySize, shortestKey, longestKey)
	case !m.isQueue() && !m.isHash() && !m.isTrie() && s.KeySize != 4:
		_, err = m.no("keys of %d bytes: this map is indexed by 4", s.KeySize)
	case m.isHash() && s.KeySize > maxKey, s.ValueSize > maxValue:
		err = refusal.New(syscall.E2BIG, "map %s: keys of %d bytes, values of %d: give at most %d and %d", s.Name, s.KeySize, s.ValueSize, maxKey, maxValue)
	case m.isHash() && s.KeySize == 0:
		_, err = m.no("keys of 0 bytes: give 1 to %d", maxKey)
	case m.hasMaps() || m.is(bpf.PerfEventArray, bpf.ProgArray):
		if s.ValueSize != 4 {
			_, err = m.no("values of %d bytes: give 4, as in Linux, where they are descriptors", s.ValueSize)
		}
	case m.hasStacks() && (s.ValueSize%wordSize != 0 || s.ValueSize > maxDepth*wordSize):
		_, err = m.no("values of %d bytes: give 8 for each of 1 to %d calls", s.ValueSize, maxDepth)
	case s.ValueSize == 0:
		_, err = m.no("values of 0 bytes: give 1 to %d", maxValue)
	}
	return err
}
