package syscall

import (
	sys "syscall"

	"sonde/kernel/abi"
	"sonde/kernel/poll"
	"sonde/kernel/vfs"
	"sonde/kernel/vfs/pipe"
	"sonde/linux/proc"
)

// base returns where a relative path begins: an open directory or, for AT_FDCWD, the current one.
//
// Errors: EBADF, ENOTDIR.
func base(t *proc.Thread, fd uint64) (*vfs.Place, error) {
	if asInt(fd) == abi.AT_FDCWD {
		return start(t), nil
	}
	f, err := anyFile(t, fd)
	if err != nil {
		return nil, err
	}
	if f.Place() == nil {
		return nil, sys.ENOTDIR
	}
	return f.Place().For(t.Process()), nil
}

// start is where t's paths begin: the current directory, with /proc/self for t's process.
func start(t *proc.Thread) *vfs.Place { return filesOf(t).Cwd().For(t.Process()) }

// where decodes a directory and a path. An absolute path ignores the directory.
func where(t *proc.Thread, fd, addr uint64) (*vfs.Place, string, error) {
	path, err := pathAt(t, addr)
	if err != nil {
		return nil, "", err
	}
	dir, err := whereFrom(t, fd, path)
	return dir, path, err
}

// whereFrom is where for a path that has been copied.
func whereFrom(t *proc.Thread, fd uint64, path string) (*vfs.Place, error) {
	if path != "" && path[0] == '/' {
		return start(t), nil
	}
	return base(t, fd)
}

const cwd = abi.AT_FDCWD & (1<<64 - 1)

func openCall(t *proc.Thread, a *Args) (uint64, error) {
	return openFile(t, cwd, a[0], asInt(a[1]), uint32(a[2]))
}

func openat(t *proc.Thread, a *Args) (uint64, error) {
	return openFile(t, a[0], a[1], asInt(a[2]), uint32(a[3]))
}

func creat(t *proc.Thread, a *Args) (uint64, error) {
	return openFile(t, cwd, a[0], abi.O_CREAT|abi.O_WRONLY|abi.O_TRUNC, uint32(a[1]))
}

func openFile(t *proc.Thread, fd, addr uint64, flags int, mode uint32) (uint64, error) {
	dir, path, err := where(t, fd, addr)
	if err != nil {
		return 0, err
	}
	return openPlace(t, dir, path, flags, mode)
}

func openPlace(t *proc.Thread, dir *vfs.Place, path string, flags int, mode uint32) (uint64, error) {
	if err := mayOpen(1); err != nil {
		return 0, err
	}
	var f *vfs.File
	err := unleased(t, flags&abi.O_NONBLOCK == 0, func() (err error) {
		f, err = vfs.OpenAt(dir, path, flags&^abi.O_CLOEXEC, vfs.Perm(mode&07777)&^filesOf(t).umask())
		return err
	})
	if err != nil {
		return 0, err
	}
	if f, err = openedTerminal(t, f, flags); err != nil {
		return 0, err
	}
	if err := awaitPeer(t, f); err != nil {
		vfs.Close(f)
		return 0, err
	}
	return install(t, f, flags&abi.O_CLOEXEC != 0)
}

// awaitPeer waits until a FIFO that was opened has another end.
//
// Errors: EINTR.
func awaitPeer(t *proc.Thread, f *vfs.File) error {
	end, ok := f.Handle().(interface{ Peer() poll.Source })
	if !ok || f.Flags()&vfs.O_NONBLOCK != 0 {
		return nil
	}
	if other := end.Peer(); other != nil {
		return poll.Until(other, poll.In, t.Cancel())
	}
	return nil
}

func closeCall(t *proc.Thread, a *Args) (uint64, error) {
	return done(filesOf(t).Descriptors().Close(asInt(a[0])))
}

// Flags of close_range.
const (
	closeRangeUnshare = 2
	closeRangeCloexec = 4
)

func closeRange(t *proc.Thread, a *Args) (uint64, error) {
	first, last := uint32(a[0]), uint32(a[1])
	if first > last || a[2]&^(closeRangeUnshare|closeRangeCloexec) != 0 {
		return 0, sys.EINVAL
	}
	if a[2]&closeRangeUnshare != 0 {
		filesOf(t).unshare()
	}
	d := filesOf(t).Descriptors()
	if a[2]&closeRangeCloexec == 0 {
		d.CloseRange(int(first), int(last))
		return 0, nil
	}
	for _, fd := range d.Open() {
		if fd >= int(first) && fd <= int(last) {
			d.SetCloseOnExec(fd, true)
		}
	}
	return 0, nil
}

func dup(t *proc.Thread, a *Args) (uint64, error) { return dupFrom(t, a[0], 0, false) }

func dupFrom(t *proc.Thread, fd uint64, min int, closeOnExec bool) (uint64, error) {
	n, err := filesOf(t).Descriptors().Dup(asInt(fd), closeOnExec, min, maxFiles(t))
	return uint64(n), err
}

func dup2(t *proc.Thread, a *Args) (uint64, error) { return dupTo(t, a[0], a[1], false) }

func dup3(t *proc.Thread, a *Args) (uint64, error) {
	if a[2]&^abi.O_CLOEXEC != 0 || asInt(a[0]) == asInt(a[1]) {
		return 0, sys.EINVAL
	}
	return dupTo(t, a[0], a[1], a[2] != 0)
}

func dupTo(t *proc.Thread, from, to uint64, closeOnExec bool) (uint64, error) {
	err := filesOf(t).Descriptors().DupTo(asInt(from), asInt(to), closeOnExec, maxFiles(t))
	return uint64(asInt(to)), err
}

func pipe2(t *proc.Thread, a *Args) (uint64, error) {
	flags := asInt(a[1])
	if flags&^(abi.O_CLOEXEC|abi.O_NONBLOCK) != 0 {
		return 0, sys.EINVAL
	}
	r, w := pipe.New(flags & abi.O_NONBLOCK)
	return installPair(t, r, w, flags&abi.O_CLOEXEC != 0, a[0])
}

// installPair gives two open files descriptors, and stores these.
//
// Errors: EMFILE, EFAULT; both files are closed then.
func installPair(t *proc.Thread, x, y *vfs.File, closeOnExec bool, addr uint64) (uint64, error) {
	first, err := install(t, x, closeOnExec)
	if err != nil {
		vfs.Close(y)
		return 0, err
	}
	d := filesOf(t).Descriptors()
	second, err := install(t, y, closeOnExec)
	if err != nil {
		d.Close(int(first))
		return 0, err
	}
	if err := put(t, addr, [2]int32{int32(first), int32(second)}); err != nil {
		d.Close(int(first))
		d.Close(int(second))
		return 0, err
	}
	return 0, nil
}
