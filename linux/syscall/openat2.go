package syscall

import (
	sys "syscall"

	"sonde/kernel/abi"
	"sonde/kernel/vfs"
	"sonde/linux/proc"
	"sonde/linux/space"
)

// openHow is struct open_how.
//
// Source: Linux, uapi/linux/openat2.h.
type openHow struct{ Flags, Mode, Resolve uint64 }

const openHowSize = 24

// pathFlags are the only flags allowed with O_PATH.
const pathFlags = abi.O_PATH | abi.O_DIRECTORY | abi.O_NOFOLLOW | abi.O_CLOEXEC

// oSync is the bit of O_SYNC beside O_DSYNC.
const oSync = 04000000

// knownOpenFlags are all flags of open.
const knownOpenFlags = abi.O_ACCMODE | abi.O_CREAT | abi.O_EXCL | abi.O_NOCTTY | abi.O_TRUNC | abi.O_APPEND | abi.O_NONBLOCK |
	abi.O_DSYNC | oSync | abi.O_ASYNC | abi.O_DIRECT | abi.O_LARGEFILE | abi.O_DIRECTORY | abi.O_NOFOLLOW | abi.O_NOATIME |
	abi.O_CLOEXEC | abi.O_PATH | abi.O_TMPFILE

// openat2 is openat that refuses unknown flags and can restrict the walk.
//
// Source: Linux, openat2(2).
func openat2(t *proc.Thread, a *Args) (uint64, error) {
	if a[3] < openHowSize {
		return 0, sys.EINVAL
	}
	if a[3] > space.PageSize {
		return 0, sys.E2BIG
	}
	var how openHow
	if err := structAt(t, abi.Bytes(&how), a[2], a[3]); err != nil {
		return 0, err
	}
	if err := how.check(); err != nil {
		return 0, err
	}
	if how.Resolve&vfs.ResolveCached != 0 && how.Flags&(abi.O_TRUNC|abi.O_CREAT|abi.O_TMPFILE) != 0 {
		return 0, sys.EAGAIN
	}
	dir, path, err := bounded(t, a[0], a[1], how.Resolve)
	if err != nil {
		return 0, err
	}
	return openPlace(t, dir, path, int(how.Flags), uint32(how.Mode))
}

// bounded is where for a restricted walk; the restrictions hold for absolute paths, too.
func bounded(t *proc.Thread, fd, addr, resolve uint64) (*vfs.Place, string, error) {
	path, err := pathAt(t, addr)
	if err != nil {
		return nil, "", err
	}
	find := whereFrom
	if resolve&(vfs.ResolveBeneath|vfs.ResolveInRoot) != 0 {
		find = func(t *proc.Thread, fd uint64, _ string) (*vfs.Place, error) { return base(t, fd) }
	}
	dir, err := find(t, fd, path)
	if err != nil {
		return nil, "", err
	}
	return dir.Bounded(vfs.Resolve(resolve)), path, nil
}

// check refuses combinations that Linux refuses.
func (h *openHow) check() error {
	const perms = 07777
	creates := h.Flags&abi.O_CREAT != 0 || h.Flags&abi.O_TMPFILE == abi.O_TMPFILE
	const both = vfs.ResolveBeneath | vfs.ResolveInRoot
	switch {
	case h.Flags&^uint64(knownOpenFlags) != 0, h.Resolve&^uint64(vfs.ResolveAll) != 0,
		h.Resolve&both == both,
		creates && h.Mode&^perms != 0, !creates && h.Mode != 0,
		h.Flags&abi.O_PATH != 0 && h.Flags&^uint64(pathFlags) != 0,
		h.Flags&(abi.O_TMPFILE&^abi.O_DIRECTORY) != 0 && (h.Flags&abi.O_TMPFILE != abi.O_TMPFILE || h.Flags&abi.O_ACCMODE == abi.O_RDONLY):
		return sys.EINVAL
	}
	return nil
}
