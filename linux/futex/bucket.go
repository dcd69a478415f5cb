package futex

// enter adds w if look allows it.
func (b *bucket[K]) enter(w *waiter[K], i int, look func() error) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := look(); err != nil {
		return err
	}
	b.add(w, i)
	return nil
}

// leave takes w out if it is in bucket i, this one, and reports whether it was.
func (b *bucket[K]) leave(w *waiter[K], i int32) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if w.in.Load() != i {
		return false
	}
	b.remove(w)
	return true
}

// waiting counts.
func (b *bucket[K]) waiting() (n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for w := b.first; w != nil; w = w.next {
		n++
	}
	return n
}

// The methods that follow are called with mu held.

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
