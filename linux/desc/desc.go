// Package desc implements the table of a process's open files: numbers, each with a flag
// that says whether exec closes it.
//
// A table holds its files (vfs.File.Hold); a clone of it, for a fork, holds them again. Get
// returns a file without holding it: if another thread closes the last descriptor
// meanwhile, the call sees EBADF, or whatever the file returns when closed.
//
// A table also owns the record locks of a process (fcntl): closing a descriptor releases
// all locks of the table on that file, and a clone has no locks.
//
// Locks: Table.mu is a leaf; files are closed outside of it.
package desc

import (
	"sync"
	"sync/atomic"
	"syscall"

	"sonde/kernel/vfs"
)

// Table is the descriptors of a process, or of several processes that share them. The zero value is
// empty.
type Table struct {
	mu sync.RWMutex
	// guarded by mu:
	slots []slot
	users int // beyond the first; see Share

	// files duplicates the files of slots for Get, with which nearly every call of a program
	// begins: this saves two atomic operations and four function calls. Written under mu.
	files atomic.Pointer[[]atomic.Pointer[vfs.File]]

	owner atomic.Bool // of record locks, now or earlier
}

type slot struct {
	file        *vfs.File
	closeOnExec bool
}

// Get returns the file of a descriptor.
//
// Errors: EBADF.
func (t *Table) Get(fd int) (*vfs.File, error) {
	if all := t.files.Load(); all != nil && uint(fd) < uint(len(*all)) {
		if f := (*all)[fd].Load(); f != nil {
			return f, nil
		}
	}
	return nil, syscall.EBADF
}

// at returns the slot of an open descriptor, or nil. Context: mu held.
func (t *Table) at(fd int) *slot {
	if fd < 0 || fd >= len(t.slots) || t.slots[fd].file == nil {
		return nil
	}
	return &t.slots[fd]
}

// Install gives f the lowest free number from min on, below limit (RLIMIT_NOFILE). The table takes
// over the caller's hold of f.
//
// Errors: EINVAL for a min that is not below limit, EMFILE; then the caller keeps the hold.
func (t *Table) Install(f *vfs.File, closeOnExec bool, min, limit int) (int, error) {
	if min < 0 || min > 0 && min >= limit {
		return 0, syscall.EINVAL
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	fd := min
	for t.at(fd) != nil {
		fd++
	}
	if fd >= limit {
		return 0, syscall.EMFILE
	}
	t.put(fd, slot{f, closeOnExec})
	return fd, nil
}

// put fills a slot. Context: mu held.
func (t *Table) put(fd int, s slot) {
	if missing := fd + 1 - len(t.slots); missing > 0 {
		t.slots = append(t.slots, make([]slot, missing)...)
		t.publish()
	}
	t.set(fd, s)
}

// set changes a slot. Context: mu held.
func (t *Table) set(fd int, s slot) {
	t.slots[fd] = s
	(*t.files.Load())[fd].Store(s.file)
}

// publish reallocates files, with room for some more than there are slots. Context: mu held.
func (t *Table) publish() {
	if old := t.files.Load(); old != nil && len(*old) >= len(t.slots) {
		return
	}
	all := make([]atomic.Pointer[vfs.File], cap(t.slots))
	for fd := range t.slots {
		all[fd].Store(t.slots[fd].file)
	}
	t.files.Store(&all)
}

// Dup gives the file of fd another number, as Install does.
//
// Errors: EBADF, EINVAL, EMFILE.
func (t *Table) Dup(fd int, closeOnExec bool, min, limit int) (int, error) {
	f, err := t.Hold(fd)
	if err != nil {
		return 0, err
	}
	n, err := t.Install(f, closeOnExec, min, limit)
	if err != nil {
		vfs.Close(f)
	}
	return n, err
}

// Hold returns the file of a descriptor, held for the caller.
//
// Errors: EBADF.
func (t *Table) Hold(fd int) (*vfs.File, error) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	s := t.at(fd)
	if s == nil {
		return nil, syscall.EBADF
	}
	s.file.Hold()
	return s.file, nil
}

// DupTo gives the file of from the number to, replacing the file that has it. The same number twice
// changes nothing.
//
// Errors: EBADF, also for a number from limit on.
func (t *Table) DupTo(from, to int, closeOnExec bool, limit int) error {
	if to < 0 || to >= limit {
		return syscall.EBADF
	}
	old, err := t.replace(from, to, closeOnExec)
	if old != nil {
		t.close(old)
	}
	return err
}

// replace is DupTo, and returns the file that had the number, if any.
func (t *Table) replace(from, to int, closeOnExec bool) (old *vfs.File, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.at(from)
	switch {
	case s == nil:
		return nil, syscall.EBADF
	case from == to:
		return nil, nil
	}
	f := s.file
	if s := t.at(to); s != nil {
		old = s.file
	}
	t.put(to, slot{f, closeOnExec})
	f.Hold()
	return old, nil
}

// Close frees a descriptor.
//
// Errors: EBADF, and those of closing the file; the descriptor is freed then, too.
func (t *Table) Close(fd int) error {
	f, err := t.take(fd)
	if err != nil {
		return err
	}
	return t.close(f)
}

// take frees a descriptor and returns its file.
func (t *Table) take(fd int) (*vfs.File, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.at(fd)
	if s == nil {
		return nil, syscall.EBADF
	}
	f := s.file
	t.set(fd, slot{})
	return f, nil
}

// CloseOnExec returns the flag of a descriptor.
//
// Errors: EBADF.
func (t *Table) CloseOnExec(fd int) (bool, error) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	if s := t.at(fd); s != nil {
		return s.closeOnExec, nil
	}
	return false, syscall.EBADF
}

// SetCloseOnExec sets the flag of a descriptor.
//
// Errors: EBADF.
func (t *Table) SetCloseOnExec(fd int, on bool) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.at(fd)
	if s == nil {
		return syscall.EBADF
	}
	s.closeOnExec = on
	return nil
}
