package desc

import (
	"syscall"

	"sonde/kernel/vfs"
)

// LockRecord locks r, whose owner becomes the table, of the file f by the descriptor
// fd. lock is f.LockRecord, or one that waits.
//
// Errors: those of lock; EBADF when fd was closed meanwhile: there would be no Close to
// end the lock, so it is given back.
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

// close closes a file that has been taken off the table.
func (t *Table) close(f *vfs.File) error {
	if t.owner.Load() {
		defer f.DropRecords(t)
	}
	return vfs.Close(f)
}
