package program

import (
	"encoding/binary"
	"syscall"
	"unsafe"

	"sonde/kernel/refusal"
	"sonde/probe/ring"
)

// What goroutines do with maps. cpu is whose table is meant; in a map that has only one it is not looked at.

// How Update treats what is there, by Linux's numbers.
const (
	Any     = 0
	NoExist = 1 // only a new key
	Exist   = 2 // only a key that is there
)

// Lookup copies the value of a key.
//
// Errors: ENOENT there is no such key; EINVAL a size is not the map's.
func (m *Map) Lookup(cpu int, key, value []byte) error {
	if err := m.sizes(key, value); err != nil {
		return err
	}
	if !m.copyOut(m.table(cpu), at(key), at(value)) {
		return m.failed("lookup", key, syscall.ENOENT)
	}
	return nil
}

// Update sets the value of a key.
//
// Errors: EINVAL a size is not the map's, or a prefix is longer than its keys; E2BIG there is no room for another key,
// in a trie ENOSPC; EEXIST, ENOENT the
// key is there, is not; EBUSY another CPU has been changing keys for long.
func (m *Map) Update(cpu int, key, value []byte, how uint64) error {
	if err := m.sizes(key, value); err != nil {
		return err
	}
	if m.stacks {
		return refusal.New(syscall.EINVAL, "map %s: only programs add stacks", m.Spec.Name)
	}
	if errno := m.updateWhole(m.table(cpu), at(key), at(value), how); errno != 0 {
		return m.failed("update", key, errno)
	}
	return nil
}

// Delete removes a key.
//
// Errors: ENOENT there is no such key; EINVAL the size is not the map's, or keys of the kind are always
// there; EBUSY as of Update.
func (m *Map) Delete(cpu int, key []byte) error {
	if err := m.sizes(key, nil); err != nil {
		return err
	}
	if errno := m.removeWhole(m.table(cpu), at(key)); errno != 0 {
		return m.failed("delete", key, errno)
	}
	return nil
}

// Range calls f for each key, in no order, until it returns false. Keys that come and go meanwhile may
// be left out. What f gets is its own until it returns.
func (m *Map) Range(cpu int, f func(key, value []byte) bool) {
	if !m.hasValues() {
		return
	}
	key, value := make([]byte, m.Spec.KeySize), make([]byte, m.Spec.ValueSize)
	t := m.table(cpu)
	if m.isTrie() {
		m.rangePrefixes(key, value, f)
		return
	}
	if !m.isHash() {
		for i := range m.Spec.MaxEntries {
			binary.LittleEndian.PutUint32(key, i)
			if m.copyOut(t, at(key), at(value)) && !f(key, value) {
				return
			}
		}
		return
	}
	for i := range m.mask + 1 {
		e := m.entry(t, i)
		if w := e.word.Load(); w&stateMask == full && m.copyEntry(e, w, at(key), at(value)) && !f(key, value) {
			return
		}
	}
}

// rangePrefixes is Range for a trie, with room for a key and a value.
func (m *Map) rangePrefixes(key, value []byte, f func(key, value []byte) bool) {
	for i := range 2 * m.Spec.MaxEntries {
		n := m.node(i + 1)
		w := n.word.Load()
		if w == unused {
			return // as all after it
		}
		if m.copyNode(n, w, at(key), at(value)) && !f(key, value) {
			return
		}
	}
}

// Push adds a value to a queue or stack. If it is full, how Exist drops the oldest.
//
// Errors: EINVAL the map is neither, or the size is not its; E2BIG it is full; EBUSY as of Update.
func (m *Map) Push(value []byte, how uint64) error {
	if err := m.queued(value); err != nil {
		return err
	}
	if errno := m.pushWhole(at(value), how); errno != 0 {
		return m.failed("push", value, errno)
	}
	return nil
}

// Pull copies the value that is next, the oldest of a queue or the newest of a stack, and takes it away if
// asked to.
//
// Errors: EINVAL the map is neither, or the size is not its; ENOENT it is empty; EBUSY as of Update.
func (m *Map) Pull(value []byte, away bool) error {
	if err := m.queued(value); err != nil {
		return err
	}
	if errno := m.pullWhole(at(value), away); errno != 0 {
		return m.failed("pull", nil, errno)
	}
	return nil
}

// queued checks that values have no keys here, and the size of one.
func (m *Map) queued(value []byte) error {
	if !m.isQueue() || len(value) != int(m.Spec.ValueSize) {
		return refusal.New(syscall.EINVAL, "map %s: a value of %d bytes without a key: it is a %s of %d bytes", m.Spec.Name, len(value), m.Spec.Type, m.Spec.ValueSize)
	}
	return nil
}

// Ring is the records of a ring buffer or perf event array; nil: the map is another kind, or a process has
// made it.
func (m *Map) Ring() *ring.Ring { return m.ring }

// Take takes a record of a map that has a Ring, as ring.Ring's Take does.
func (m *Map) Take(room []byte) (rec ring.Record, ok bool) {
	rec, ok = m.ring.Take(room)
	if ok {
		rec.Data = rec.Data[recordHead:]
	}
	return rec, ok
}

// at is the address of bytes, which there are.
func at(b []byte) unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(b)) }

// sizes checks a key and, if there is one, a value.
func (m *Map) sizes(key, value []byte) error {
	switch {
	case !m.hasValues():
		return refusal.New(syscall.EINVAL, "map %s: a %s has no values by key to copy", m.Spec.Name, m.Spec.Type)
	case len(key) != int(m.Spec.KeySize):
		return refusal.New(syscall.EINVAL, "map %s: a key of %d bytes: give %d", m.Spec.Name, len(key), m.Spec.KeySize)
	case value != nil && len(value) != int(m.Spec.ValueSize):
		return refusal.New(syscall.EINVAL, "map %s: a value of %d bytes: give %d", m.Spec.Name, len(value), m.Spec.ValueSize)
	}
	return nil
}

func (m *Map) failed(what string, key []byte, errno syscall.Errno) error {
	why := map[syscall.Errno]string{syscall.ENOENT: "there is nothing", syscall.EEXIST: "the key is there", syscall.E2BIG: "there is no room",
		syscall.ENOSPC: "there is no room", syscall.EBUSY: "it is being changed", syscall.EINVAL: "this is not possible in a map of this type"}[errno]
	return refusal.New(errno, "map %s: %s %x: %s", m.Spec.Name, what, key, why)
}
