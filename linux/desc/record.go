package desc

import (
	"syscall"

	"sonde/kernel/vfs"
)

// LockRecord locks r, with the table as the owner, on the file f of the descriptor fd. lock is
// f.LockRecord, or a function that waits.
//
// Errors: those of lock; EBADF if fd was closed meanwhile: the lock is released then, because no
// later Close would end it.
func (t *Table) LockRecord(fd int, f *vfs.File, r vfs.Record, lock func(vfs.Record) error) error {
	r.Owner = t
	t.owner.Store(true)
	if err := lock(r); err != nil {
		return err
	}
	if now, err := t.Get(fd); err != nil || now != f {
		f.UnlockRecord(r)
		return syscall.EBADF
	}
	return nil
}

// close closes a file that has been removed from the table.
func (t *Table) close(f *vfs.File) error {
	if t.owner.Load() {
		defer f.DropRecords(t)
	}
	return vfs.Close(f)
}
