package vfs

import (
	"cmp"
	"slices"

	"sonde/kernel/poll"
)

// Conflict returns, of the locks that are in r's way, the one that begins first.
func (f *File) Conflict(r Record) (Record, bool) {
	all := records.obstacles(f.Info().Ino, r)
	if len(all) == 0 {
		return Record{}, false
	}
	return slices.MinFunc(all, func(a, b Record) int { return cmp.Compare(a.First, b.First) }), true
}

// LockRecord gives r to its owner, in place of what that has of the same bytes. The
// owner gives it back by UnlockRecord or DropRecords; one that is the open file itself
// does so with the last Close at the latest.
//
// Errors: EAGAIN while another's lock is in the way, ENOLCK when there are too many;
// nothing has changed then. EBADF when f, the owner, was closed meanwhile.
func (f *File) LockRecord(r Record) error {
	f.ownsRecords(r)
	_, err := records.take(f.Info().Ino, r, false)
	return f.stillOpen(r, err)
}

// LockRecordWait is LockRecord that waits. cancel gives up: see poll.Until.
//
// Errors: EINTR, ENOLCK, EBADF; EDEADLK when one whose lock is in the way waits for r's owner.
func (f *File) LockRecordWait(r Record, cancel <-chan struct{}) error {
	f.ownsRecords(r)
	ino := f.Info().Ino
	for {
		w, err := records.take(ino, r, true)
		if w == nil {
			return f.stillOpen(r, err)
		}
		if err := w.wait(ino, cancel); err != nil {
			return err
		}
	}
}

// wait waits until nothing is in w's way.
func (w *wanted) wait(ino uint64, cancel <-chan struct{}) error {
	defer w.table.leave(ino, w)
	return poll.Until(w, poll.In, cancel)
}

// UnlockRecord takes r's bytes from the locks of r's owner.
//
// Errors: ENOLCK when a lock is to be split and there are too many.
func (f *File) UnlockRecord(r Record) error { return records.give(f.Info().Ino, r) }

// DropRecords takes from an owner all locks of the file that f has open.
func (f *File) DropRecords(owner any) {
	records.give(f.Info().Ino, Record{Last: ToEnd, Owner: owner}) // splits nothing: no error
}

// stillOpen takes r back when f, its owner, was closed while r was made.
func (f *File) stillOpen(r Record, err error) error {
	if err == nil && r.Owner == f && f.Closed() {
		f.DropRecords(f)
		return errClosed
	}
	return err
}

// ownsRecords notes that f's last Close is to drop locks.
func (f *File) ownsRecords(r Record) {
	if r.Owner == f {
		f.owner.Store(true)
	}
}
