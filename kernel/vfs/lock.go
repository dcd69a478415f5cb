package vfs

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
