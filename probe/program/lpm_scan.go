package program

// For goroutines, with interrupts off. The keys of a trie one after another.

import "unsafe"

// placeOfPrefix returns the number of a prefix's node, for goroutines; 0: there is none.
//
//go:nosplit
func (m *Map) placeOfPrefix(key unsafe.Pointer) (i uint32) {
	t, flags := m.takeWhole()
	if t == nil {
		return 0
	}
	if *(*uint32)(key) <= m.bits {
		if at, _, _, same := m.wayTo(t, key); m.isFull(at, same, key) {
			i = at
		}
	}
	giveWhole(t, flags)
	return i
}

// nextPrefix copies the key after that of a node, for goroutines: first what is below a prefix, then itself, as in
// Linux. After a node without a value comes the first one. It returns the number of the node; 0: there is none.
//
//go:nosplit
func (m *Map) nextPrefix(of uint64, key unsafe.Pointer) (i uint32) {
	t, flags := m.takeWhole()
	if t == nil {
		return 0
	}
	if of <= uint64(t.fresh) {
		i = m.after(t, uint32(of))
	}
	if i != 0 {
		load(key, m.node(i).key(), m.Spec.KeySize)
	}
	giveWhole(t, flags)
	return i
}

// after returns the number of the node after one.
//
//go:nosplit
func (m *Map) after(t *trie, of uint32) (next uint32) {
	at := t.root.Load()
	if of == 0 || !m.node(of).is(full) {
		return m.deepest(at)
	}
	key, down := m.node(of).key(), false
	for at != of {
		n := m.node(at)
		side := bit(key, n.length())
		if right := n.child[1].Load(); side == 0 && right != 0 {
			next, down = right, true
		} else if n.is(full) {
			next, down = at, false
		}
		at = n.child[side].Load()
	}
	if down {
		return m.deepest(next)
	}
	return next
}

// deepest returns the first node at or below one: down on the left, and where there is nothing, on the right.
//
//go:nosplit
func (m *Map) deepest(at uint32) uint32 {
	for i := at; i != 0; {
		at = i
		n := m.node(at)
		if i = n.child[0].Load(); i == 0 {
			i = n.child[1].Load()
		}
	}
	return at
}
