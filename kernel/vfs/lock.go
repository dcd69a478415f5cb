package vfs

import (
	"cmp"
	"slices"

	"sonde/kernel/poll"
)

// Conflict returns the first of the locks that conflict with r.
func (f *File) Conflict(r Record) (Record, bool) {
	all := records.obstacles(f.Info().Ino, r)
	if len(all) == 0 {
		return Record{}, false
	}
	return slices.MinFunc(all, func(a, b Record) int { return cmp.Compare(a.First, b.First) }), true
}

// LockRecord gives the owner of r that lock, in place of the locks that it has on the same bytes.
// UnlockRecord or DropRecords release it; if the owner is an open file, its last Close does so at
// the latest.
//
// Errors: EAGAIN while a lock of another owner conflicts, ENOLCK if there are too many; nothing has
// changed then. EBADF if f, the owner, was closed meanwhile.
func (f *File) LockRecord(r Record) error { return records.lock(f, r) }

// LockRecordWait is LockRecord that waits. cancel ends the wait: see poll.Until.
//
// Errors: EINTR, ENOLCK, EBADF; EDEADLK if an owner of a conflicting lock waits for r's owner.
func (f *File) LockRecordWait(r Record, cancel <-chan struct{}) error {
	return records.lockWait(f, r, cancel)
}

// UnlockRecord removes r's bytes from the locks of r's owner.
//
// Errors: ENOLCK if that splits a lock and there are too many.
func (f *File) UnlockRecord(r Record) error { return records.give(f.Info().Ino, r) }

// DropRecords removes all locks that an owner has on the file of f.
func (f *File) DropRecords(owner any) { records.drop(f, owner) }

// flocks has the locks of flock, which are advisory. A lock belongs to an open file, so to all descriptors
// that refer to it, and ends with its last Close. It is a lock of all bytes, in a table of its own: locks of
// flock and of records do not conflict.
var flocks = newRecordTable()

// whole is a lock of f.
func (f *File) whole(exclusive bool) Record {
	return Record{Last: ToEnd, Exclusive: exclusive, Owner: f}
}

// Lock locks the file of f, shared or exclusive. A lock that f has already is released first.
//
// Errors: EAGAIN while another open file has it; ENOLCK there are too many; EBADF if f was closed meanwhile.
func (f *File) Lock(exclusive bool) error {
	f.Unlock()
	return flocks.lock(f, f.whole(exclusive))
}

// LockWait is Lock that waits. cancel ends the wait: see poll.Until.
//
// Errors: EINTR, ENOLCK, EBADF.
func (f *File) LockWait(exclusive bool, cancel <-chan struct{}) error {
	f.Unlock()
	return flocks.lockWait(f, f.whole(exclusive), cancel)
}

// Unlock releases the lock that f has, if any.
func (f *File) Unlock() {
	if f.owner.Load() {
		flocks.drop(f, f)
	}
}

// lock gives the owner of r that lock of f.
func (t *recordTable) lock(f *File, r Record) error {
	f.owns(r)
	_, err := t.take(f.Info().Ino, r, false)
	return t.stillOpen(f, r, err)
}

// lockWait is lock that waits.
func (t *recordTable) lockWait(f *File, r Record, cancel <-chan struct{}) error {
	f.owns(r)
	ino := f.Info().Ino
	for {
		w, err := t.take(ino, r, true)
		if w == nil {
			return t.stillOpen(f, r, err)
		}
		if err := w.wait(ino, cancel); err != nil {
			return err
		}
	}
}

// wait waits until no lock conflicts with w.
func (w *wanted) wait(ino uint64, cancel <-chan struct{}) error {
	defer w.table.leave(ino, w)
	return poll.Until(w, poll.In, cancel)
}

// drop removes all locks that an owner has on the file of f. It splits no lock, so it cannot fail.
func (t *recordTable) drop(f *File, owner any) {
	t.give(f.Info().Ino, Record{Last: ToEnd, Owner: owner})
}

// stillOpen releases r if f, its owner, was closed while r was made.
func (t *recordTable) stillOpen(f *File, r Record, err error) error {
	if err == nil && r.Owner == f && f.Closed() {
		t.drop(f, f)
		return errClosed
	}
	return err
}

// owns notes that f's last Close must drop locks, if f is the owner of r.
func (f *File) owns(r Record) {
	if r.Owner == f {
		f.owner.Store(true)
	}
}
