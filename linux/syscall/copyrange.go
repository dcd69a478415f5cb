package syscall

import (
	"cmp"
	sys "syscall"

	"sonde/kernel/abi"
	"sonde/kernel/vfs"
	"sonde/linux/proc"
)

// end is one of the two files of copy_file_range, and its offset: at *addr if there is an address,
// otherwise the file's position, which moves.
type end struct {
	file *vfs.File
	addr uint64
	off  int64
}

func endOf(t *proc.Thread, fd, addr uint64) (e end, err error) {
	if e.file, err = fileOf(t, fd); err != nil {
		return e, err
	}
	mode := e.file.Info().Mode
	switch {
	case mode.IsDir():
		return e, sys.EISDIR
	case !mode.IsRegular():
		return e, sys.EINVAL
	}
	if e.addr = addr; addr != 0 {
		e.off, err = get[int64](t, addr)
	} else {
		e.off, err = e.file.Seek(0, 1)
	}
	if err == nil && e.off < 0 {
		err = sys.EINVAL
	}
	return e, err
}

// advance stores the offset after the copied bytes.
func (e *end) advance(t *proc.Thread, n uint64) error {
	if e.addr != 0 {
		return put(t, e.addr, e.off+int64(n))
	}
	_, err := e.file.Seek(e.off+int64(n), 0)
	return err
}

// copyFileRange copies between regular files; no pages are shared.
//
// Source: Linux, copy_file_range(2).
func copyFileRange(t *proc.Thread, a *Args) (uint64, error) {
	if a[5] != 0 {
		return 0, sys.EINVAL
	}
	from, err := endOf(t, a[0], a[1])
	if err != nil {
		return 0, err
	}
	to, err := endOf(t, a[2], a[3])
	if err != nil {
		return 0, err
	}
	n := min(a[4], mostIO)
	switch {
	case from.file.Flags()&abi.O_ACCMODE == abi.O_WRONLY, to.file.Flags()&abi.O_ACCMODE == abi.O_RDONLY,
		to.file.Flags()&abi.O_APPEND != 0:
		return 0, sys.EBADF
	case from.file.Info().Ino == to.file.Info().Ino && overlap(from.off, to.off, int64(n)):
		return 0, sys.EINVAL
	}
	shift := to.off - from.off
	dst := mover{t: t, f: to.file, how: writesAt}
	write := func(b []byte, off int64) (int, error) { return dst.move(b, off+shift) }
	n, err = pass(t, from.file.ReadAt, write, n, from.off)
	if err != nil {
		return 0, signalled(t, to.file, err)
	}
	return n, cmp.Or(from.advance(t, n), to.advance(t, n))
}

func overlap(a, b, n int64) bool { return a < b+n && b < a+n }
