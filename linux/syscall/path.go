package syscall

import (
	"io/fs"
	sys "syscall"
	"time"

	"sonde/kernel/abi"
	"sonde/kernel/lock"
	"sonde/kernel/vfs"
	"sonde/kernel/vfs/pipe"
	"sonde/linux/proc"
	"sonde/linux/sock"
)

func (f *Files) umask() fs.FileMode { return lock.Get(&f.dir.mu, &f.dir.umask) }

func umask(t *proc.Thread, a *Args) (uint64, error) {
	d := filesOf(t).dir
	d.mu.Lock()
	defer d.mu.Unlock()
	old := d.umask
	d.umask = vfs.Perm(uint32(a[0]) & 0777)
	return uint64(old), nil
}

func (d *directory) change(to *vfs.Place) { lock.Set(&d.mu, &d.cwd, to) }

func chdir(t *proc.Thread, a *Args) (uint64, error) {
	dir, path, err := where(t, cwd, a[0])
	if err != nil {
		return 0, err
	}
	to, err := vfs.Root.PlaceAt(dir, path, true, true)
	if err == nil {
		filesOf(t).dir.change(to)
	}
	return 0, err
}

func fchdir(t *proc.Thread, f *vfs.File, a *Args) (uint64, error) {
	if f.Place() == nil {
		return 0, sys.ENOTDIR
	}
	if _, ok := f.Place().Node().(vfs.Directory); !ok {
		return 0, sys.ENOTDIR
	}
	filesOf(t).dir.change(f.Place())
	return 0, nil
}

func getcwd(t *proc.Thread, a *Args) (uint64, error) {
	path, err := filesOf(t).Cwd().Path()
	if err != nil {
		return 0, err
	}
	if uint64(len(path)+1) > a[1] {
		return 0, sys.ERANGE
	}
	return uint64(len(path) + 1), t.Memory().Out(a[0], append([]byte(path), 0))
}

func mkdirat(t *proc.Thread, a *Args) (uint64, error) {
	dir, path, err := where(t, a[0], a[1])
	if err != nil {
		return 0, err
	}
	return done(vfs.Root.MkdirAt(dir, path, vfs.Perm(uint32(a[2])&01777)&^filesOf(t).umask()))
}

// mknodat makes regular files, FIFOs and sockets only.
func mknodat(t *proc.Thread, a *Args) (uint64, error) {
	mode := uint32(a[2])
	dir, path, err := where(t, a[0], a[1])
	if err != nil {
		return 0, err
	}
	perm := vfs.Perm(mode&07777) &^ filesOf(t).umask()
	switch mode & abi.S_IFMT {
	case 0, abi.S_IFREG:
		return done(vfs.Root.MakeFileAt(dir, path, perm))
	case abi.S_IFIFO:
		return done(vfs.Root.AddAt(dir, path, pipe.NewFIFO(perm)))
	case abi.S_IFSOCK:
		return done(vfs.Root.AddAt(dir, path, sock.NewName(perm)))
	}
	if kind := mode & abi.S_IFMT; kind == abi.S_IFCHR || kind == abi.S_IFBLK || kind == abi.S_IFSOCK || kind == abi.S_IFDIR {
		return 0, sys.EPERM
	}
	return 0, sys.EINVAL
}

func rmdir(t *proc.Thread, a *Args) (uint64, error) {
	return unlinkat(t, &Args{cwd, a[0], abi.AT_REMOVEDIR})
}

func unlinkat(t *proc.Thread, a *Args) (uint64, error) {
	flags := a[2]
	if flags&^abi.AT_REMOVEDIR != 0 {
		return 0, sys.EINVAL
	}
	dir, path, err := where(t, a[0], a[1])
	if err != nil {
		return 0, err
	}
	if flags != 0 {
		return done(vfs.Root.RmdirAt(dir, path))
	}
	return done(vfs.Root.UnlinkAt(dir, path))
}

func rename(t *proc.Thread, a *Args) (uint64, error) {
	return renameFile(t, &Args{cwd, a[0], cwd, a[1], 0})
}

// renamings is the meaning of renameat2's flags. RENAME_WHITEOUT is refused, as by Linux file
// systems without such nodes.
var renamings = map[uint64]vfs.Renaming{0: vfs.Replace, abi.RENAME_NOREPLACE: vfs.NoReplace, abi.RENAME_EXCHANGE: vfs.Exchange}

// fromTo returns the two places and names that a call is about.
func fromTo(t *proc.Thread, a *Args) (from *vfs.Place, old string, to *vfs.Place, name string, err error) {
	if from, old, err = where(t, a[0], a[1]); err == nil {
		to, name, err = where(t, a[2], a[3])
	}
	return from, old, to, name, err
}

func renameFile(t *proc.Thread, a *Args) (uint64, error) {
	how, ok := renamings[a[4]&0xffffffff]
	if !ok {
		return 0, sys.EINVAL
	}
	from, old, to, name, err := fromTo(t, a)
	if err != nil {
		return 0, err
	}
	return done(vfs.Root.RenameAt(from, old, to, name, how))
}

func link(t *proc.Thread, a *Args) (uint64, error) {
	return linkat(t, &Args{cwd, a[0], cwd, a[1], 0})
}

func linkat(t *proc.Thread, a *Args) (uint64, error) {
	from, old, to, name, err := fromTo(t, a)
	switch {
	case err != nil:
		return 0, err
	case a[4]&^(abi.AT_SYMLINK_FOLLOW|abi.AT_EMPTY_PATH) != 0:
		return 0, sys.EINVAL
	case old == "" && a[4]&abi.AT_EMPTY_PATH != 0:
		f, err := anyFile(t, a[0])
		if err != nil {
			return 0, err
		}
		return done(vfs.Root.LinkFile(f, to, name))
	}
	return done(vfs.Root.LinkAt(from, old, to, name, a[4]&abi.AT_SYMLINK_FOLLOW != 0))
}

func symlink(t *proc.Thread, target string, a *Args) (uint64, error) {
	return symlinkat(t, target, &Args{a[0], cwd, a[1]})
}

func symlinkat(t *proc.Thread, target string, a *Args) (uint64, error) {
	dir, name, err := where(t, a[1], a[2])
	if err != nil {
		return 0, err
	}
	return done(vfs.Root.SymlinkAt(target, dir, name))
}

func fchmodat(t *proc.Thread, a *Args) (uint64, error) { return changeAt(t, a, 0, setMode(a[2])) }

func fchmodat2(t *proc.Thread, a *Args) (uint64, error) {
	if a[3]&^(abi.AT_SYMLINK_NOFOLLOW|abi.AT_EMPTY_PATH) != 0 {
		return 0, sys.EINVAL
	}
	return changeAt(t, a, a[3], setMode(a[2]))
}

func fchmod(t *proc.Thread, a *Args) (uint64, error) {
	return change(fileOf, t, a[0], setMode(a[1]))
}

func setMode(mode uint64) func(vfs.Changer) {
	return func(c vfs.Changer) { c.SetMode(vfs.Perm(uint32(mode) & 07777)) }
}

// change changes the attributes of the open file that find returns.
func change(find func(*proc.Thread, uint64) (*vfs.File, error), t *proc.Thread, fd uint64, how func(vfs.Changer)) (uint64, error) {
	f, err := find(t, fd)
	if err != nil {
		return 0, err
	}
	return done(f.Change(how))
}

func lchown(t *proc.Thread, a *Args) (uint64, error) {
	return fchownat(t, &Args{cwd, a[0], a[1], a[2], abi.AT_SYMLINK_NOFOLLOW})
}

func fchownat(t *proc.Thread, a *Args) (uint64, error) {
	return changeAt(t, a, a[4], chownTo(a[2], a[3]))
}

func fchown(t *proc.Thread, a *Args) (uint64, error) {
	return change(fileOf, t, a[0], chownTo(a[1], a[2]))
}

// changeAt changes the attributes of the file at a directory and a path, a call's first arguments; with
// AT_EMPTY_PATH and no path, those of the descriptor's.
func changeAt(t *proc.Thread, a *Args, flags uint64, how func(vfs.Changer)) (uint64, error) {
	path, err := pathAt(t, a[1])
	if err != nil {
		return 0, err
	}
	if path == "" && flags&abi.AT_EMPTY_PATH != 0 {
		return change(anyFile, t, a[0], how)
	}
	dir, err := whereFrom(t, a[0], path)
	if err != nil {
		return 0, err
	}
	return done(vfs.Root.ChangeAt("change", dir, path, flags&abi.AT_SYMLINK_NOFOLLOW == 0, how))
}

func chownTo(uid, gid uint64) func(vfs.Changer) {
	return func(c vfs.Changer) { c.SetOwner(uint32(uid), uint32(gid)) }
}

// Special values of utimensat's nanoseconds.
const (
	utimeNow  = 0x3fffffff
	utimeOmit = 0x3ffffffe
)

func utimensat(t *proc.Thread, a *Args) (uint64, error) {
	times := [2]abi.Timespec{{Nsec: utimeNow}, {Nsec: utimeNow}}
	if given, ok, err := getIf[[2]abi.Timespec](t, a[2]); err != nil {
		return 0, err
	} else if ok {
		times = given
	}
	var at [2]time.Time
	for i, ts := range times {
		switch {
		case ts.Nsec == utimeOmit:
		case ts.Nsec == utimeNow:
			at[i] = time.Now()
		case ts.Nsec < 0 || ts.Nsec >= 1e9:
			return 0, sys.EINVAL
		default:
			at[i] = time.Unix(ts.Sec, ts.Nsec)
		}
	}
	if a[3]&^(abi.AT_SYMLINK_NOFOLLOW|abi.AT_EMPTY_PATH) != 0 {
		return 0, sys.EINVAL
	}
	if a[1] == 0 { // as futimens does
		return change(fileOf, t, a[0], setTimes(at))
	}
	return changeAt(t, a, a[3], setTimes(at))
}

func setTimes(at [2]time.Time) func(vfs.Changer) {
	return func(c vfs.Changer) { c.SetTimes(at[0], at[1]) }
}

func truncate(t *proc.Thread, a *Args) (uint64, error) {
	dir, path, err := where(t, cwd, a[0])
	if err != nil {
		return 0, err
	}
	if i, err := vfs.Root.StatAt(dir, path, true); err == nil {
		if err := mayGrow(t, i, int64(a[1])); err != nil {
			return 0, err
		}
	}
	return done(unleased(t, true, func() error { return vfs.Root.TruncateAt(dir, path, int64(a[1])) }))
}

func ftruncate(t *proc.Thread, a *Args) (uint64, error) {
	if int64(a[1]) < 0 {
		return 0, sys.EINVAL
	}
	f, err := fileOf(t, a[0])
	switch {
	case err != nil:
		return 0, err
	case f.Flags()&abi.O_ACCMODE == abi.O_RDONLY:
		return 0, sys.EINVAL
	}
	if err := mayGrow(t, f.Info(), int64(a[1])); err != nil {
		return 0, err
	}
	return done(f.Truncate(int64(a[1])))
}

func syncCall(*proc.Thread, *Args) (uint64, error) { return 0, nil }
