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
	b.waiters.Remove(w.at)
	return true
}

// waiting counts.
func (b *bucket[K]) waiting() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.waiters.Len()
}

// The methods that follow are called with mu held.

// add puts w at the end of bucket i.
func (b *bucket[K]) add(w *waiter[K], i int) {
	w.in.Store(int32(i))
	w.at = b.waiters.PushBack(w)
}

// each calls f for each waiter, the longest waiting first, until it returns false. f may take the waiter out.
func (b *bucket[K]) each(f func(w *waiter[K]) bool) {
	for e := b.waiters.Front(); e != nil; {
		next := e.Next()
		if !f(e.Value.(*waiter[K])) {
			return
		}
		e = next
	}
}

func (b *bucket[K]) wake(key K, n int, bitset uint32) (awake int) {
	b.each(func(w *waiter[K]) bool {
		if awake < n && w.key == key && w.bitset&bitset != 0 {
			b.waiters.Remove(w.at)
			w.in.Store(woken)
			w.wake <- struct{}{}
			awake++
		}
		return awake < n
	})
	return awake
}
