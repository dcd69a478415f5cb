package syscall

import (
	"errors"
	sys "syscall"

	"sonde/kernel/abi"
	"sonde/kernel/vfs"
	"sonde/linux/proc"
)

// leaseKinds are the leases by their names in fcntl, which are those of locks.
var leaseKinds = map[uint64]vfs.LeaseKind{
	abi.F_RDLCK: vfs.ReadLease, abi.F_WRLCK: vfs.WriteLease, abi.F_UNLCK: vfs.NoLease,
}

// lease serves F_GETLEASE and F_SETLEASE.
func lease(t *proc.Thread, f *vfs.File, a *Args) (uint64, error) {
	if a[1] == abi.F_SETLEASE {
		kind, ok := leaseKinds[a[2]]
		if !ok {
			return 0, sys.EINVAL
		}
		return 0, f.SetLease(kind, asInt(a[0]), ownSelf(t))
	}
	for name, kind := range leaseKinds {
		if kind == f.Lease() {
			return name, nil
		}
	}
	return abi.F_UNLCK, nil
}

// unleased calls open, and again after the holders of leases on the file have released them.
//
// Errors: EINTR; those of open, EAGAIN if the caller must not wait.
func unleased(t *proc.Thread, wait bool, open func() error) error {
	for {
		err := open()
		var l vfs.Leased
		if !wait || !errors.As(err, &l) {
			return err
		}
		if err := l.Wait(t.Cancel()); err != nil {
			return err
		}
	}
}
