package vfs

import (
	"sync"
	"syscall"

	"sonde/kernel/poll"
)

// Locks of flock are advisory. A lock belongs to an open file, so to all descriptors that refer to
// it, and ends with its last Close.

// locks has the locks that are held or waited for, by inode number: not all nodes can be compared.
var locks = struct {
	mu sync.Mutex
	of map[uint64]*lock // guarded by mu
}{of: make(map[uint64]*lock)}

// lock is guarded by locks.mu, but for the queue.
type lock struct {
	owners    map[*File]bool
	exclusive bool // there is one owner only
	waiters   int
	queue     poll.Queue
}

// Lock locks the file of f, shared or exclusive. A lock that f has already is released first.
//
// Errors: EAGAIN while another open file has it; EBADF if f was closed meanwhile.
func (f *File) Lock(exclusive bool) error {
	f.Unlock()
	if err := f.lock(exclusive); err != nil {
		return err
	}
	if f.Closed() {
		f.Unlock() // its last Close may have come too early for that
		return errClosed
	}
	return nil
}

func (f *File) lock(exclusive bool) error {
	ino := f.Info().Ino
	locks.mu.Lock()
	defer locks.mu.Unlock()
	l := lockOf(ino)
	if !l.free(exclusive) {
		return syscall.EAGAIN // it has owners, so it must not be forgotten
	}
	l.owners[f], l.exclusive = true, exclusive
	f.locked.Store(true)
	return nil
}

// LockWait is Lock that waits. cancel ends the wait: see poll.Until.
//
// Errors: EINTR, EBADF.
func (f *File) LockWait(exclusive bool, cancel <-chan struct{}) error {
	ino := f.Info().Ino
	w := waiting{await(ino, 1), exclusive}
	defer await(ino, -1)
	for {
		if err := f.Lock(exclusive); err != syscall.EAGAIN {
			return err
		}
		if err := poll.Until(w, poll.In, cancel); err != nil {
			return err
		}
	}
}

// Unlock releases the lock of f, if it has one.
func (f *File) Unlock() {
	if !f.locked.Load() {
		return
	}
	if l := f.release(); l != nil {
		l.queue.Notify(poll.In)
	}
}

func (f *File) release() *lock {
	ino := f.Info().Ino
	locks.mu.Lock()
	defer locks.mu.Unlock()
	l := locks.of[ino]
	if l == nil || !l.owners[f] {
		return nil
	}
	delete(l.owners, f)
	f.locked.Store(false)
	l.exclusive = false
	l.forget(ino)
	return l
}

// lockOf returns the lock of a node. Context: locks.mu held.
func lockOf(ino uint64) *lock {
	l := locks.of[ino]
	if l == nil {
		l = &lock{owners: make(map[*File]bool)}
		locks.of[ino] = l
	}
	return l
}

// free reports whether one more owner is possible. Context: locks.mu held.
func (l *lock) free(exclusive bool) bool {
	return len(l.owners) == 0 || !exclusive && !l.exclusive
}

// forget removes a lock that has neither owners nor waiters. Context: locks.mu held.
func (l *lock) forget(ino uint64) {
	if len(l.owners) == 0 && l.waiters == 0 {
		delete(locks.of, ino)
	}
}

// await adds more to the number of waiters for a node's lock.
func await(ino uint64, more int) *lock {
	locks.mu.Lock()
	defer locks.mu.Unlock()
	l := lockOf(ino)
	l.waiters += more
	l.forget(ino)
	return l
}

// waiting is a lock as a poll.Source.
type waiting struct {
	*lock
	exclusive bool
}

// Poll implements poll.Source.
func (w waiting) Poll() poll.Events {
	locks.mu.Lock()
	defer locks.mu.Unlock()
	if w.free(w.exclusive) {
		return poll.In
	}
	return 0
}

// Queue implements poll.Source.
func (w waiting) Queue() *poll.Queue { return &w.queue }
