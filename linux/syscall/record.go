package syscall

import (
	"io"
	sys "syscall"

	"sonde/kernel/abi"
	"sonde/kernel/vfs"
	"sonde/linux/proc"
)

// Locks of fcntl. Those of F_SETLK belong to the process's table of descriptors, those of
// F_OFD_SETLK to the open file.

// ofOpenFile reports whether a command concerns the locks of an open file.
func ofOpenFile(cmd uint64) bool {
	return cmd == abi.F_OFD_GETLK || cmd == abi.F_OFD_SETLK || cmd == abi.F_OFD_SETLKW
}

// recordAt copies a struct flock from the program, and converts it to a record.
//
// Errors: EFAULT, EBADF, EINVAL, EOVERFLOW.
// Source: POSIX, fcntl; Linux, fcntl(2), "Open file description locks".
func recordAt(t *proc.Thread, f *vfs.File, cmd, addr uint64) (l abi.Flock, r vfs.Record, err error) {
	if f.Flags()&abi.O_PATH != 0 {
		return l, r, sys.EBADF
	}
	if l, err = get[abi.Flock](t, addr); err != nil {
		return l, r, err
	}
	r = vfs.Record{Exclusive: l.Type == abi.F_WRLCK, Owner: filesOf(t).Descriptors(), PID: t.Process().PID}
	if ofOpenFile(cmd) {
		r.Owner, r.PID = f, -1
	}
	if l.Type < abi.F_RDLCK || l.Type > abi.F_UNLCK || ofOpenFile(cmd) && l.PID != 0 {
		return l, r, sys.EINVAL
	}
	origin, err := originOf(f, l.Whence)
	if err == nil {
		r.First, r.Last, err = extent(origin, l.Start, l.Len)
	}
	return l, r, err
}

// originOf is the offset from which a lock's start is counted.
//
// Errors: EINVAL.
func originOf(f *vfs.File, whence int16) (int64, error) {
	switch whence {
	case io.SeekStart:
		return 0, nil
	case io.SeekCurrent:
		at, err := f.Seek(0, io.SeekCurrent)
		if errnoIs(err, sys.ESPIPE) {
			return 0, nil
		}
		return at, err
	case io.SeekEnd:
		return f.Info().Size, nil
	}
	return 0, sys.EINVAL
}

// extent returns the first and the last of n bytes from start on, counted from origin: for a
// negative n the bytes before start, for 0 all that follow. origin is not negative.
//
// Errors: EINVAL before the start of the file, EOVERFLOW after the last possible byte.
func extent(origin, start, n int64) (first, last int64, err error) {
	if start > vfs.ToEnd-origin {
		return 0, 0, sys.EOVERFLOW
	}
	first = origin + start
	switch {
	case first < 0 || n < 0 && first+n < 0:
		return 0, 0, sys.EINVAL
	case n < 0:
		return first + n, first - 1, nil
	case n == 0:
		return first, vfs.ToEnd, nil
	case n-1 > vfs.ToEnd-first:
		return 0, 0, sys.EOVERFLOW
	}
	return first, first + n - 1, nil
}

// getRecord returns the lock that conflicts with another.
func getRecord(t *proc.Thread, f *vfs.File, a *Args) (uint64, error) {
	l, r, err := recordAt(t, f, a[1], a[2])
	if err == nil && l.Type == abi.F_UNLCK {
		err = sys.EINVAL
	}
	if err != nil {
		return 0, err
	}
	o, found := f.Conflict(r)
	if !found {
		l.Type = abi.F_UNLCK
		return done(put(t, a[2], l))
	}
	l = abi.Flock{Type: abi.F_RDLCK, Whence: io.SeekStart, Start: o.First, PID: int32(o.PID)}
	if o.Exclusive {
		l.Type = abi.F_WRLCK
	}
	if o.Last != vfs.ToEnd {
		l.Len = o.Last - o.First + 1
	}
	return done(put(t, a[2], l))
}

// setRecord locks and unlocks.
func setRecord(t *proc.Thread, f *vfs.File, a *Args) (uint64, error) {
	l, r, err := recordAt(t, f, a[1], a[2])
	if err != nil {
		return 0, err
	}
	access := f.Flags() & abi.O_ACCMODE
	switch {
	case l.Type == abi.F_UNLCK:
		return done(f.UnlockRecord(r))
	case l.Type == abi.F_RDLCK && access == abi.O_WRONLY, l.Type == abi.F_WRLCK && access == abi.O_RDONLY:
		return 0, sys.EBADF
	}
	lock := f.LockRecord
	if a[1] == abi.F_SETLKW || a[1] == abi.F_OFD_SETLKW {
		lock = func(r vfs.Record) error { return f.LockRecordWait(r, t.Cancel()) }
	}
	if ofOpenFile(a[1]) {
		return done(lock(r))
	}
	return done(filesOf(t).Descriptors().LockRecord(asInt(a[0]), f, r, lock))
}
