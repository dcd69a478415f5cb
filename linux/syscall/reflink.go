package syscall

import (
	sys "syscall"

	"sonde/kernel/abi"
	"sonde/kernel/vfs"
	"sonde/linux/proc"
)

// Files in memory cannot share data. The requests to do so are checked as in Linux, so that
// programs learn that it is the file system's doing, and copy instead.

// cloneFile is FICLONE, from the file of descriptor from to f.
func cloneFile(t *proc.Thread, f *vfs.File, from uint64) error {
	src, err := fileOf(t, from)
	if err != nil {
		return err
	}
	in, out := src.Info(), f.Info()
	switch {
	case in.Mode.IsDir() || out.Mode.IsDir():
		return sys.EISDIR
	case !in.Mode.IsRegular() || !out.Mode.IsRegular():
		return sys.EINVAL
	case in.Dev != out.Dev:
		return sys.EXDEV
	case src.Flags()&abi.O_ACCMODE == abi.O_WRONLY, f.Flags()&abi.O_ACCMODE == abi.O_RDONLY, f.Flags()&abi.O_APPEND != 0:
		return sys.EBADF
	}
	return sys.EOPNOTSUPP
}

// cloneRange is FICLONERANGE: addr has the descriptor.
func cloneRange(t *proc.Thread, f *vfs.File, addr uint64) error {
	r, err := get[struct{ From, Offset, Length, To uint64 }](t, addr)
	if err != nil {
		return err
	}
	return cloneFile(t, f, r.From)
}
