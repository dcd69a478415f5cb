package desc

import "sonde/kernel/vfs"

// Clone returns a table with the same files, for a fork.
func (t *Table) Clone() *Table {
	t.mu.RLock()
	defer t.mu.RUnlock()
	c := &Table{slots: make([]slot, len(t.slots))}
	copy(c.slots, t.slots)
	c.publish()
	for _, s := range c.slots {
		if s.file != nil {
			s.file.Hold()
		}
	}
	return c
}

// Share adds a process that uses the table. Each use ends with a Leave.
func (t *Table) Share() *Table {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.users++
	return t
}

// Leave ends one process's use of the table; the last Leave closes all descriptors.
func (t *Table) Leave() {
	if t.leave() {
		t.CloseRange(0, int(^uint(0)>>1))
	}
}

// leave reports whether it was the last.
func (t *Table) leave() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.users--
	return t.users < 0
}

// Alone reports whether one process only uses the table: if not, exec works on a clone.
func (t *Table) Alone() bool {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.users <= 0
}

// Exec closes the descriptors that have the flag.
func (t *Table) Exec() { t.closeIf(func(_ int, s slot) bool { return s.closeOnExec }) }

// CloseRange closes the descriptors from first to last.
func (t *Table) CloseRange(first, last int) {
	t.closeIf(func(fd int, _ slot) bool { return first <= fd && fd <= last })
}

// closeIf closes the descriptors for which which returns true.
func (t *Table) closeIf(which func(int, slot) bool) { t.closeAll(t.takeIf(which)) }

// closeAll closes files; if closing one of them panics, it still closes the rest.
func (t *Table) closeAll(files []*vfs.File) {
	if len(files) == 0 {
		return
	}
	defer t.closeAll(files[1:])
	t.close(files[0])
}

// takeIf frees the descriptors for which which returns true, and returns their files.
func (t *Table) takeIf(which func(int, slot) bool) (gone []*vfs.File) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for fd, s := range t.slots {
		if s.file != nil && which(fd, s) {
			gone = append(gone, s.file)
			t.set(fd, slot{})
		}
	}
	return gone
}

// Open returns the descriptors in use, lowest first, for /proc/PID/fd.
func (t *Table) Open() (fds []int) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	for fd, s := range t.slots {
		if s.file != nil {
			fds = append(fds, fd)
		}
	}
	return fds
}
