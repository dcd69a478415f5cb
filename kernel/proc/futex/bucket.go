package futex

// The methods here are called with mu held.

// add puts w at the end of bucket i.
func (b *bucket[K]) add(w *waiter[K], i int) {
	w.in.Store(int32(i))
	w.prev, w.next = b.last, nil
	if b.last != nil {
		b.last.next = w
	} else {
		b.first = w
	}
	b.last = w
}

// remove takes w out of the list; the caller says where it is now.
func (b *bucket[K]) remove(w *waiter[K]) {
	if w.prev != nil {
		w.prev.next = w.next
	} else {
		b.first = w.next
	}
	if w.next != nil {
		w.next.prev = w.prev
	} else {
		b.last = w.prev
	}
	w.prev, w.next = nil, nil
}

func (b *bucket[K]) wake(key K, n int, bitset uint32) (awake int) {
	for w := b.first; w != nil && awake < n; {
		next := w.next
		if w.key == key && w.bitset&bitset != 0 {
			b.remove(w)
			w.in.Store(woken)
			w.wake <- struct{}{}
			awake++
		}
		w = next
	}
	return awake
}
