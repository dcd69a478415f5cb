package program

import (
	"encoding/binary"
	"unsafe"

	"sonde/bpf"
)

// What a goroutine needs to go through a map's keys a few at a time: each has a place, a number, that stays as
// long as the key. Keys that tables of several CPUs have are at the place in the first of these.

// Scan copies the first key at a place or after it, and returns the place after that key. False: there is none.
func (m *Map) Scan(from uint64, key []byte) (next uint64, ok bool) {
	if len(key) != int(m.Spec.KeySize) || m.is(bpf.RingBuf) || m.isQueue() {
		return 0, false
	}
	if m.isTrie() {
		i := m.nextPrefix(from, at(key))
		return uint64(i), i != 0
	}
	if !m.isHash() {
		return m.scanIndices(from, key)
	}
	places := m.mask + 1
	for ; from < places*uint64(m.Tables()); from++ {
		cpu := int(from / places)
		e := m.entry(m.table(cpu), from%places)
		w := e.word.Load()
		if w&stateMask != full {
			continue
		}
		if load(at(key), unsafe.Add(unsafe.Pointer(e), wordSize), m.Spec.KeySize); e.word.Load() == w && !m.isBefore(cpu, key) {
			return from + 1, true
		}
	}
	return 0, false
}

// scanIndices is Scan for a map whose keys are indices.
func (m *Map) scanIndices(from uint64, key []byte) (next uint64, ok bool) {
	for ; from < uint64(m.Spec.MaxEntries); from++ {
		if binary.LittleEndian.PutUint32(key, uint32(from)); !m.stacks || from < uint64(m.room) && m.stackAt(uint32(from)).Load()&stateMask == isStack {
			return from + 1, true
		}
	}
	return 0, false
}

// isBefore reports whether the table of a CPU before this one has a key.
func (m *Map) isBefore(cpu int, key []byte) bool {
	for i := range cpu {
		if m.findEntry((*table)(m.table(i)), at(key)) != nil {
			return true
		}
	}
	return false
}

// PlaceOf returns the place of a key. False: there is no such key.
func (m *Map) PlaceOf(key []byte) (place uint64, ok bool) {
	if len(key) != int(m.Spec.KeySize) || m.is(bpf.RingBuf) || m.isQueue() {
		return 0, false
	}
	if m.isTrie() {
		i := m.placeOfPrefix(at(key))
		return uint64(i) - 1, i != 0
	}
	if !m.isHash() {
		i := binary.LittleEndian.Uint32(key)
		return uint64(i), i < m.Spec.MaxEntries
	}
	for cpu := range m.Tables() {
		t := m.table(cpu)
		if e := m.findEntry((*table)(t), at(key)); e != nil {
			off := uintptr(unsafe.Pointer(e)) - uintptr(t) - tableSize
			return uint64(cpu)*(m.mask+1) + uint64(off/m.stride), true
		}
	}
	return 0, false
}
