package syscall

import (
	"slices"
	sys "syscall"

	"sonde/kernel/abi"
	"sonde/kernel/vfs"
	"sonde/kernel/vfs/pipe"
	"sonde/linux/proc"
)

// fcntlOfPath is the commands of fcntl for a descriptor that was opened with O_PATH.
var fcntlOfPath = []uint64{abi.F_DUPFD, abi.F_DUPFD_CLOEXEC, abi.F_GETFD, abi.F_SETFD, abi.F_GETFL}

func fcntl(t *proc.Thread, a *Args) (uint64, error) {
	d, fd := filesOf(t).Descriptors(), asInt(a[0])
	f, err := d.Get(fd)
	if err != nil {
		return 0, err
	}
	if f.Flags()&abi.O_PATH != 0 && !slices.Contains(fcntlOfPath, a[1]) {
		return 0, sys.EBADF
	}
	switch a[1] {
	case abi.F_DUPFD:
		return dupFrom(t, a[0], asInt(a[2]), false)
	case abi.F_DUPFD_CLOEXEC:
		return dupFrom(t, a[0], asInt(a[2]), true)
	case abi.F_GETFD:
		on, err := d.CloseOnExec(fd)
		if on {
			return abi.FD_CLOEXEC, err
		}
		return 0, err
	case abi.F_SETFD:
		return done(d.SetCloseOnExec(fd, a[2]&abi.FD_CLOEXEC != 0))
	case abi.F_GETFL:
		return statusFlags(f), nil
	case abi.F_SETFL:
		f.SetFlags(asInt(a[2]))
		setAsync(f, asInt(a[2])&abi.O_ASYNC != 0, fd)
		return 0, nil
	case abi.F_GETOWN, abi.F_SETOWN, abi.F_GETOWN_EX, abi.F_SETOWN_EX, abi.F_GETSIG, abi.F_SETSIG:
		return ownership(t, f, a)
	case abi.F_GETLEASE, abi.F_SETLEASE:
		return lease(t, f, a)
	case abi.F_NOTIFY:
		return notifyDir(t, f, a)
	case abi.F_GETPIPE_SZ, abi.F_SETPIPE_SZ:
		return pipeSize(f, a)
	case abi.F_GETLK, abi.F_OFD_GETLK:
		return getRecord(t, f, a)
	case abi.F_SETLK, abi.F_SETLKW, abi.F_OFD_SETLK, abi.F_OFD_SETLKW:
		return setRecord(t, f, a)
	}
	return 0, sys.EINVAL
}

// pipeSize returns or sets the capacity of a pipe.
//
// Errors: EBADF if it is not a pipe, and as pipe.Resizer.
func pipeSize(f *vfs.File, a *Args) (uint64, error) {
	p, ok := f.Handle().(pipe.Resizer)
	if !ok {
		return 0, sys.EBADF
	}
	if a[1] == abi.F_GETPIPE_SZ {
		return uint64(p.Size()), nil
	}
	n, err := p.Resize(int(uint32(a[2])))
	return uint64(n), err
}

// statusFlags returns the flags for F_GETFL. Only files that open has opened have O_LARGEFILE.
func statusFlags(f *vfs.File) uint64 {
	flags := uint64(f.Flags())
	if f.Place() != nil || f.Info().Mode.IsRegular() {
		flags |= abi.O_LARGEFILE
	}
	return flags
}

// setAsync sets or clears O_ASYNC if f supports it.
func setAsync(f *vfs.File, on bool, fd int) {
	if on != (f.Flags()&abi.O_ASYNC != 0) {
		f.SetAsync(on, fd) // for other files the flag stays clear, as in Linux
	}
}
