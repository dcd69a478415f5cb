package program

// Trap context: see map_trap.go. Tries, in which a key's longest prefix is found.
//
// A node is a prefix. It has a value, or it is where two of them part. Below it are longer prefixes that begin with
// it, on two sides, by their next bit. Looking up takes no lock: the memory of a node becomes another node's at most,
// and its word changes then. A lookup reads a node, and then looks once more whether that and the one above it are
// what they were, and where they were; otherwise it begins again. What changes a trie holds its lock, and makes a
// change visible by one store: of a node's number or of its word. The key of a node has its host bits, too, as the
// last update gave them.
//
// Source: Linux, Documentation/bpf/map_lpm_trie.rst.

import (
	"math/bits"
	"sync/atomic"
	"unsafe"
)

// trie is the head of a trie, before its nodes. Nodes have numbers from 1; 0 is none.
type trie struct {
	lock atomic.Uint32
	root atomic.Uint32

	// guarded by lock:
	free    uint32 // the first node that is not used any more; its child[0] is the next one
	fresh   uint32 // how many nodes have been used
	entries uint32
	filler  [lineSize - 20]byte
}

// node is a node. The key and the value follow. Its word is an entry's.
type node struct {
	word  atomic.Uint64
	child [2]atomic.Uint32
}

const (
	trieSize = unsafe.Sizeof(trie{})
	nodeSize = unsafe.Sizeof(node{})

	parting = 3 // state of a node: no value, and something on both sides

	lengthBits = 32      // of a key: the length of the prefix, before its bits
	spareSteps = 64      // of a lookup that begins again
	patience   = 1 << 18 // of goroutines: how often they try as programs do
)

//go:nosplit
func (m *Map) node(i uint32) *node {
	// Safe because: there are twice as many as entries, and numbers are of these.
	return (*node)(unsafe.Add(m.base, trieSize+uintptr(i-1)*m.stride))
}

//go:nosplit
func (n *node) key() unsafe.Pointer { return unsafe.Add(unsafe.Pointer(n), nodeSize) }

//go:nosplit
func (n *node) length() uint32 { return uint32((*atomic.Uint64)(n.key()).Load()) }

// become changes the state of a node, so that whoever has read it notices.
//
//go:nosplit
func (n *node) become(state uint64) { n.word.Store(n.word.Load()&^stateMask + stateMask + 1 | state) }

//go:nosplit
func (n *node) is(state uint64) bool { return n.word.Load()&stateMask == state }

// bit returns a bit of a prefix, which is 0 or 1.
//
//go:nosplit
func bit(key unsafe.Pointer, at uint32) uint32 {
	at += lengthBits
	return uint32(*(*byte)(unsafe.Add(key, at/8))) >> (7 - at%8) & 1
}

// common returns how many bits a node and a key share, up to limit. From of these are known to be the same.
//
//go:nosplit
func (m *Map) common(n *node, key unsafe.Pointer, from, limit uint32) uint32 {
	const wordBits = 8 * wordSize
	for i := (from + lengthBits) / wordBits; i*wordBits < limit+lengthBits; i++ {
		off := i * wordSize
		other := (*atomic.Uint64)(unsafe.Add(n.key(), off)).Load() ^ word(unsafe.Add(key, off), m.Spec.KeySize-off)
		if i == 0 {
			other = other >> lengthBits << lengthBits
		}
		if other != 0 {
			return min(limit, i*wordBits+uint32(bits.LeadingZeros64(bits.ReverseBytes64(other)))-lengthBits)
		}
	}
	return limit
}

// findPrefix returns the node of the longest prefix of a key, and its word; nil: there is none.
//
//go:nosplit
func (m *Map) findPrefix(key unsafe.Pointer) (best *node, word uint64) {
	length := *(*uint32)(key)
	if length > m.bits {
		return nil, 0
	}
	root := &(*trie)(m.base).root
	from, above, aboveWord, same := root, (*node)(nil), uint64(0), uint32(0)
	for range m.steps {
		i := from.Load()
		n, w, size := (*node)(nil), uint64(0), uint32(0)
		if i != 0 {
			n = m.node(i)
			w, size = n.word.Load(), n.length()
			same = m.common(n, key, same, min(size, length))
		}
		if from.Load() != i || above != nil && above.word.Load() != aboveWord || n != nil && n.word.Load() != w {
			best, from, above, same = nil, root, nil, 0
			continue
		}
		if n == nil || same < size {
			return best, word
		}
		if w&stateMask == full {
			best, word = n, w
		}
		if size == length {
			return best, word
		}
		from, above, aboveWord = &n.child[bit(key, size)], n, w
	}
	m.lost.Add(1)
	return nil, 0
}

// copyPrefix copies the value of a key's longest prefix.
//
//go:nosplit
func (m *Map) copyPrefix(key, to unsafe.Pointer) bool {
	for {
		n, w := m.findPrefix(key)
		if n == nil {
			return false
		}
		if m.copyNode(n, w, nil, to) {
			return true
		}
	}
}

// copyNode copies what was in a node when its word was w: the value, and the key unless that is nil. False: it has
// none, or it is gone.
//
//go:nosplit
func (m *Map) copyNode(n *node, w uint64, key, value unsafe.Pointer) bool {
	if key != nil {
		load(key, n.key(), m.Spec.KeySize)
	}
	load(value, unsafe.Add(unsafe.Pointer(n), m.value), m.size)
	return w&stateMask == full && n.word.Load() == w
}

// takeTrie takes the lock; nil: it cannot be had.
//
//go:nosplit
func (m *Map) takeTrie() *trie {
	t := (*trie)(m.base)
	for range tries {
		if t.lock.Load() == 0 && t.lock.CompareAndSwap(0, 1) {
			return t
		}
	}
	return nil
}

// takeWhole is takeTrie for goroutines, which wait longer. They have interrupts off from then on, to giveWhole.
//
//go:nosplit
func (m *Map) takeWhole() (t *trie, flags uint64) {
	for range patience {
		flags = irqOff()
		if t = m.takeTrie(); t != nil {
			return t, flags
		}
		irqRestore(flags)
	}
	return nil, 0
}

//go:nosplit
func giveWhole(t *trie, flags uint64) {
	t.lock.Store(0)
	irqRestore(flags)
}
