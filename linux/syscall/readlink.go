package syscall

import (
	sys "syscall"

	"sonde/kernel/abi"
	"sonde/kernel/vfs"
	"sonde/linux/proc"
)

func readlinkat(t *proc.Thread, a *Args) (uint64, error) {
	path, err := pathAt(t, a[1])
	if err != nil {
		return 0, err
	}
	if asInt(a[3]) <= 0 {
		return 0, sys.EINVAL
	}
	target, err := targetOf(t, a[0], path)
	if err != nil {
		return 0, err
	}
	n := min(uint64(len(target)), a[3])
	return n, t.Memory().Out(a[2], []byte(target[:n]))
}

// targetOf reads the link at a path, or the one that is open if the path is empty.
func targetOf(t *proc.Thread, fd uint64, path string) (string, error) {
	if path == "" && asInt(fd) != abi.AT_FDCWD {
		return readlinkOpen(t, fd)
	}
	dir, err := whereFrom(t, fd, path)
	if err != nil {
		return "", err
	}
	return vfs.Root.ReadlinkAt(dir, path)
}

// readlinkOpen reads a link that was opened with O_PATH and O_NOFOLLOW.
//
// Errors: EBADF; ENOENT if it is not a link.
func readlinkOpen(t *proc.Thread, fd uint64) (string, error) {
	f, err := anyFile(t, fd)
	if err != nil {
		return "", err
	}
	switch l := f.Node().(type) {
	case vfs.Viewed:
		return l.TargetFor(t.Process())
	case vfs.Link:
		return l.Target()
	}
	return "", sys.ENOENT
}
