package program

// Trap context: see map_trap.go. What changes tries: see lpm_trap.go.

import (
	"sync/atomic"
	"syscall"
	"unsafe"
)

// wayTo returns the numbers of the node that has the prefix of a key, begins with it or parts from it, of the one
// above that, and of the one above both; and how many bits of the prefix the first one has. 0: there is none. They are
// no struct, which would be copied by SSE registers.
//
//go:nosplit
func (m *Map) wayTo(t *trie, key unsafe.Pointer) (at, above, over, same uint32) {
	length := *(*uint32)(key)
	for at = t.root.Load(); at != 0; at = m.slot(t, above, key).Load() {
		n := m.node(at)
		size := n.length()
		if same = m.common(n, key, same, min(size, length)); same < size || size == length {
			return at, above, over, same
		}
		above, over = at, above
	}
	return 0, above, over, same
}

// slot is where the number of the node is that comes after one on the way to a key.
//
//go:nosplit
func (m *Map) slot(t *trie, above uint32, key unsafe.Pointer) *atomic.Uint32 {
	if above == 0 {
		return &t.root
	}
	n := m.node(above)
	return &n.child[bit(key, n.length())]
}

// isFull reports whether a node has a key's very prefix, and a value.
//
//go:nosplit
func (m *Map) isFull(at, same uint32, key unsafe.Pointer) bool {
	return m.isExact(at, same, key) && m.node(at).is(full)
}

//go:nosplit
func (m *Map) isExact(at, same uint32, key unsafe.Pointer) bool {
	return at != 0 && same == *(*uint32)(key) && same == m.node(at).length()
}

// updatePrefix sets the value of a prefix, which it adds if it is not there.
//
//go:nosplit
func (m *Map) updatePrefix(key, value unsafe.Pointer, how uint64) syscall.Errno {
	t := m.takeTrie()
	if t == nil {
		m.lost.Add(1)
		return syscall.EBUSY
	}
	errno := m.putPrefix(t, key, value, how)
	t.lock.Store(0)
	return errno
}

// updatePrefixWhole and removePrefixWhole are updatePrefix and removePrefix for goroutines.
//
//go:nosplit
func (m *Map) updatePrefixWhole(key, value unsafe.Pointer, how uint64) syscall.Errno {
	t, flags := m.takeWhole()
	if t == nil {
		return syscall.EBUSY
	}
	errno := m.putPrefix(t, key, value, how)
	giveWhole(t, flags)
	return errno
}

//go:nosplit
func (m *Map) removePrefixWhole(key unsafe.Pointer) syscall.Errno {
	t, flags := m.takeWhole()
	if t == nil {
		return syscall.EBUSY
	}
	errno := m.cutPrefix(t, key)
	giveWhole(t, flags)
	return errno
}

// own copies a key to where nothing else writes, as a program's key may be in a map: to the last node, which is never
// needed (newNode). The lock is held.
//
//go:nosplit
func (m *Map) own(key unsafe.Pointer) unsafe.Pointer {
	to := m.node(2 * m.Spec.MaxEntries).key()
	store(to, key, m.Spec.KeySize)
	return to
}

// putPrefix is updatePrefix with the lock held.
//
//go:nosplit
func (m *Map) putPrefix(t *trie, key, value unsafe.Pointer, how uint64) syscall.Errno {
	key = m.own(key)
	if how > Exist || *(*uint32)(key) > m.bits {
		return syscall.EINVAL
	}
	at, above, _, same := m.wayTo(t, key)
	switch there := m.isFull(at, same, key); {
	case there && how == NoExist:
		return syscall.EEXIST
	case there:
		m.fill(m.node(at), key, value)
		return 0
	case how == Exist:
		return syscall.ENOENT
	case t.entries == m.Spec.MaxEntries:
		m.lost.Add(1)
		return syscall.ENOSPC
	}
	t.entries++
	if m.isExact(at, same, key) {
		m.fill(m.node(at), key, value)
		m.node(at).become(full)
	} else {
		m.slot(t, above, key).Store(m.addPrefix(t, at, same, key, value))
	}
	return 0
}

//go:nosplit
func (m *Map) fill(n *node, key, value unsafe.Pointer) {
	store(n.key(), key, m.Spec.KeySize)
	store(unsafe.Add(unsafe.Pointer(n), m.value), value, m.size)
}

// addPrefix makes a node for a prefix, and returns the number of what takes the place of another node, which is below
// it: with at 0, as there was none, the new node, or one where both part.
//
//go:nosplit
func (m *Map) addPrefix(t *trie, at, same uint32, key, value unsafe.Pointer) uint32 {
	i := m.newNode(t)
	n := m.node(i)
	m.fill(n, key, value)
	if at != 0 && same < n.length() {
		n.become(full)
		return m.part(t, at, same, i)
	}
	if at != 0 {
		n.child[bit(m.node(at).key(), same)].Store(at)
	}
	n.become(full)
	return i
}

// part makes the node where a new one and one that is there part.
//
//go:nosplit
func (m *Map) part(t *trie, at, same, with uint32) uint32 {
	i := m.newNode(t)
	p, old := m.node(i), m.node(at).key()
	store(p.key(), old, m.Spec.KeySize)
	first := (*atomic.Uint64)(p.key())
	first.Store(first.Load()>>lengthBits<<lengthBits | uint64(same))
	side := bit(old, same)
	p.child[side].Store(at)
	p.child[1-side].Store(with)
	p.become(parting)
	return i
}

// newNode returns a node without anything below it. Nodes suffice: of those that part, which have something on both
// sides, there are fewer than of those with values.
//
//go:nosplit
func (m *Map) newNode(t *trie) uint32 {
	i := t.free
	if i == 0 {
		t.fresh++
		return t.fresh
	}
	n := m.node(i)
	t.free = n.child[0].Load()
	n.child[0].Store(0)
	return i
}

// freeNode takes a node back that is below nothing any more.
//
//go:nosplit
func (m *Map) freeNode(t *trie, i uint32) {
	n := m.node(i)
	n.become(deleted)
	n.child[0].Store(t.free)
	n.child[1].Store(0)
	t.free = i
}

// removePrefix removes a prefix.
//
//go:nosplit
func (m *Map) removePrefix(key unsafe.Pointer) syscall.Errno {
	t := m.takeTrie()
	if t == nil {
		m.lost.Add(1)
		return syscall.EBUSY
	}
	errno := m.cutPrefix(t, key)
	t.lock.Store(0)
	return errno
}

// cutPrefix is removePrefix with the lock held.
//
//go:nosplit
func (m *Map) cutPrefix(t *trie, key unsafe.Pointer) syscall.Errno {
	key = m.own(key)
	if *(*uint32)(key) > m.bits {
		return syscall.EINVAL
	}
	at, above, over, same := m.wayTo(t, key)
	if !m.isFull(at, same, key) {
		return syscall.ENOENT
	}
	t.entries--
	n := m.node(at)
	left, right := n.child[0].Load(), n.child[1].Load()
	switch {
	case left != 0 && right != 0:
		n.become(parting)
	case left == 0 && right == 0 && above != 0 && m.node(above).is(parting):
		p := m.node(above)
		m.slot(t, over, key).Store(p.child[0].Load() ^ p.child[1].Load() ^ at) // the other one
		m.freeNode(t, above)
		m.freeNode(t, at)
	default:
		m.slot(t, above, key).Store(left | right)
		m.freeNode(t, at)
	}
	return 0
}
