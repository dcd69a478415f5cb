package syscall

import (
	"cmp"
	sys "syscall"
	"time"

	"sonde/kernel/abi"
	"sonde/kernel/vfs"
	"sonde/linux/proc"
)

const blockSize = 4096

func timespec(t time.Time) abi.Timespec {
	return abi.Timespec{Sec: t.Unix(), Nsec: int64(t.Nanosecond())}
}

func statOf(i vfs.Info) abi.Stat {
	return abi.Stat{
		Dev: i.Dev, Ino: i.Ino, Nlink: i.Links, Mode: i.ModeBits(), UID: i.UID, GID: i.GID, Rdev: i.RDev,
		Size: i.Size, Blksize: blockSize, Blocks: i.Blocks,
		Atime: timespec(i.AccTime), Mtime: timespec(i.ModTime), Ctime: timespec(i.ChangeTime),
	}
}

func stat(t *proc.Thread, a *Args) (uint64, error) {
	return newfstatat(t, &Args{cwd, a[0], a[1], 0})
}

func lstat(t *proc.Thread, a *Args) (uint64, error) {
	return newfstatat(t, &Args{cwd, a[0], a[1], abi.AT_SYMLINK_NOFOLLOW})
}

func fstat(t *proc.Thread, f *vfs.File, a *Args) (uint64, error) {
	return done(put(t, a[1], statOf(f.Info())))
}

const statFlags = abi.AT_SYMLINK_NOFOLLOW | abi.AT_NO_AUTOMOUNT | abi.AT_EMPTY_PATH

func newfstatat(t *proc.Thread, a *Args) (uint64, error) {
	if a[3]&^statFlags != 0 {
		return 0, sys.EINVAL
	}
	i, err := infoAt(t, a[0], a[1], a[3])
	if err != nil {
		return 0, err
	}
	return done(put(t, a[2], statOf(i)))
}

// infoAt describes the node at a directory and a path; with AT_EMPTY_PATH and no path, that of the
// descriptor itself.
func infoAt(t *proc.Thread, fd, addr, flags uint64) (vfs.Info, error) {
	path, err := "", error(nil)
	if addr != 0 || flags&abi.AT_EMPTY_PATH == 0 {
		if path, err = pathAt(t, addr); err != nil {
			return vfs.Info{}, err
		}
	}
	if path == "" && flags&abi.AT_EMPTY_PATH != 0 {
		if asInt(fd) == abi.AT_FDCWD {
			return vfs.Root.StatAt(filesOf(t).Cwd(), ".", true)
		}
		f, err := anyFile(t, fd)
		if err != nil {
			return vfs.Info{}, err
		}
		return f.Info(), nil
	}
	dir, err := whereFrom(t, fd, path)
	if err != nil {
		return vfs.Info{}, err
	}
	return vfs.Root.StatAt(dir, path, flags&abi.AT_SYMLINK_NOFOLLOW == 0)
}

// statxSync is the part of statx's flags about when to ask a server.
const statxSync = 0x6000

// statxReserved is a bit of statx's mask that is never used.
const statxReserved = 0x80000000

func statx(t *proc.Thread, a *Args) (uint64, error) {
	if a[2]&^(statFlags|statxSync) != 0 || a[2]&statxSync == statxSync || a[3]&statxReserved != 0 {
		return 0, sys.EINVAL
	}
	i, err := infoAt(t, a[0], a[1], a[2])
	if err != nil {
		return 0, err
	}
	x := abi.Statx{
		Mask: abi.STATX_BASIC_STATS, Blksize: blockSize, Nlink: uint32(i.Links), UID: i.UID, GID: i.GID,
		Mode: uint16(i.ModeBits()), Ino: i.Ino, Size: uint64(i.Size), Blocks: uint64(i.Blocks),
		Atime: statxTime(i.AccTime), Ctime: statxTime(i.ChangeTime), Mtime: statxTime(i.ModTime),
		RdevMajor: major(i.RDev), RdevMinor: minor(i.RDev), DevMajor: major(i.Dev), DevMinor: minor(i.Dev),
	}
	return done(put(t, a[4], x))
}

func statxTime(t time.Time) abi.StatxTime {
	return abi.StatxTime{Sec: t.Unix(), Nsec: uint32(t.Nanosecond())}
}

func major(dev uint64) uint32 { return uint32(dev>>8&0xfff | dev>>32&^0xfff) }
func minor(dev uint64) uint32 { return uint32(dev&0xff | dev>>12&^0xff) }

// faccessat answers for root, who may do anything except execute a file without execute permission.
func faccessat(t *proc.Thread, a *Args) (uint64, error) { return accessible(t, a[0], a[1], a[2], 0) }

func faccessat2(t *proc.Thread, a *Args) (uint64, error) {
	if a[3]&^(statFlags|abi.AT_EACCESS) != 0 {
		return 0, sys.EINVAL
	}
	return accessible(t, a[0], a[1], a[2], a[3])
}

func accessible(t *proc.Thread, fd, addr, mode, flags uint64) (uint64, error) {
	const exec, all = 1, 7
	if mode&^all != 0 {
		return 0, sys.EINVAL
	}
	i, err := infoAt(t, fd, addr, flags)
	if err != nil {
		return 0, err
	}
	if mode&exec != 0 && !i.Mode.IsDir() && i.Mode&0111 == 0 {
		return 0, sys.EACCES
	}
	return 0, nil
}

func getdents64(t *proc.Thread, f *vfs.File, a *Args) (uint64, error) {
	var n int
	var bad error
	err := f.ReadDirents(func(e vfs.Dirent) bool {
		b := t.Buffer[:abi.Dirent64Len(e.Name)]
		if n+len(b) > int(min(a[2], largePiece)) {
			bad = sys.EINVAL
			return false
		}
		abi.PutDirent64(b, e.Ino, e.Next, byte(vfs.TypeBits(e.Mode)>>12), e.Name)
		if bad = t.Memory().Out(a[1]+uint64(n), b); bad == nil {
			n += len(b)
		}
		return bad == nil
	})
	if n > 0 {
		bad = nil
	}
	return uint64(n), cmp.Or(err, bad)
}

const nameMax = 255

func statfs(t *proc.Thread, a *Args) (uint64, error) {
	dir, path, err := where(t, cwd, a[0])
	if err != nil {
		return 0, err
	}
	p, err := vfs.Root.PlaceAt(dir, path, true, false)
	if err != nil {
		return 0, err
	}
	return done(put(t, a[1], statfsOf(p.Mount())))
}

// fstatfs of a file without a name in the tree, such as a pipe, describes the file system of the
// tree's files.
func fstatfs(t *proc.Thread, f *vfs.File, a *Args) (uint64, error) {
	p := f.Place()
	if p == nil {
		p = vfs.Root.RootPlace()
	}
	return done(put(t, a[1], statfsOf(p.Mount())))
}

func statfsOf(m vfs.Mount) abi.Statfs {
	s := abi.Statfs{Type: m.Magic, Bsize: blockSize, Frsize: blockSize, Namelen: nameMax}
	if m.HasRoom() {
		limit, used := vfs.Root.Usage()
		s.Blocks, s.Bfree = uint64(limit), uint64(max(limit-used, 0))
		s.Bavail = s.Bfree
	}
	return s
}

// ustat returns the free space of a mounted file system, by its device.
//
// Source: Linux, ustat(2).
func ustat(t *proc.Thread, a *Args) (uint64, error) {
	for _, m := range vfs.Mounts() {
		if m.Device() == a[0]&0xffffffff {
			s := statfsOf(m)
			return done(put(t, a[1], struct {
				Free, _ uint32
				Inodes  uint64
				Names   [12]byte
				_       [4]byte
			}{Free: uint32(s.Bfree), Inodes: s.Ffree}))
		}
	}
	return 0, sys.EINVAL
}
