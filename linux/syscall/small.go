package syscall

import (
	"io/fs"
	"strconv"
	sys "syscall"
	"time"

	"sonde/kernel/abi"
	"sonde/kernel/vfs"
	"sonde/linux/proc"
	"sonde/linux/signal"
)

// Small calls, most of them variants of other calls.

// Flags of memfd_create.
const (
	mfdCloexec      = 1
	mfdAllowSealing = 2
)

func memfdCreate(t *proc.Thread, a *Args) (uint64, error) {
	name, err := t.Memory().CString(a[0], 250)
	if err != nil {
		if errnoIs(err, sys.ENAMETOOLONG) {
			err = sys.EINVAL
		}
		return 0, err
	}
	if a[1]&^(mfdCloexec|mfdAllowSealing) != 0 {
		return 0, sys.EINVAL
	}
	f, err := vfs.Root.NewMemFile(name)
	if err != nil {
		return 0, err
	}
	return install(t, f, a[1]&mfdCloexec != 0)
}

// preadv2 and pwritev2 are preadv and pwritev with flags, or readv and writev.
func preadv2(t *proc.Thread, a *Args) (uint64, error) { return vector2(t, a, readv, preadv) }

func pwritev2(t *proc.Thread, a *Args) (uint64, error) { return vector2(t, a, writev, pwritev) }

func vector2(t *proc.Thread, a *Args, next, at func(*proc.Thread, *Args) (uint64, error)) (uint64, error) {
	if a[5] != 0 {
		return 0, sys.EOPNOTSUPP
	}
	if int64(a[3]) == -1 {
		return next(t, a)
	}
	return at(t, a)
}

// utime sets the times in whole seconds.
func utime(t *proc.Thread, a *Args) (uint64, error) {
	v, ok, err := getIf[[2]int64](t, a[1])
	if err != nil {
		return 0, err
	}
	at := [2]time.Time{time.Now(), time.Now()}
	if ok {
		at = [2]time.Time{time.Unix(v[0], 0), time.Unix(v[1], 0)}
	}
	return changeAt(t, &Args{cwd, a[0]}, 0, setTimes(at))
}

func futimesat(t *proc.Thread, a *Args) (uint64, error) {
	v, ok, err := getIf[[2]abi.Timeval](t, a[2])
	if err != nil {
		return 0, err
	}
	at := [2]time.Time{time.Now(), time.Now()}
	for i := range at {
		if ok {
			if v[i].Usec < 0 || v[i].Usec >= 1e6 {
				return 0, sys.EINVAL
			}
			at[i] = time.Unix(v[i].Sec, v[i].Usec*1000)
		}
	}
	return changeAt(t, a, 0, setTimes(at))
}

// fallocate makes a file long enough. Its pages are allocated when they are written.
func fallocate(t *proc.Thread, f *vfs.File, a *Args) (uint64, error) {
	const keepSize = 1
	off, n := int64(a[2]), int64(a[3])
	switch {
	case off < 0 || n <= 0:
		return 0, sys.EINVAL
	case a[1]&^keepSize != 0:
		return 0, sys.EOPNOTSUPP
	case off+n < off:
		return 0, sys.EFBIG
	case f.Flags()&abi.O_ACCMODE == abi.O_RDONLY:
		return 0, sys.EBADF
	case f.Info().Mode&fs.ModeNamedPipe != 0:
		return 0, sys.ESPIPE
	case !f.Info().Mode.IsRegular():
		return 0, sys.ENODEV
	}
	if err := mayGrow(t, f.Info(), off+n); err != nil || a[1]&keepSize != 0 {
		return 0, err
	}
	return done(f.Extend(off + n))
}

// priorities are the highest and the lowest priority of a policy.
func priorities(policy uint64) (highest, lowest uint64, err error) {
	switch p := asInt(policy); {
	case p == proc.SchedFIFO || p == proc.SchedRR:
		return 99, 1, nil
	case p >= 0 && p <= proc.SchedDeadline && p != 4:
		return 0, 0, nil
	}
	return 0, 0, sys.EINVAL
}

func schedGetPriorityMax(_ *proc.Thread, a *Args) (uint64, error) {
	v, _, err := priorities(a[0])
	return v, err
}

func schedGetPriorityMin(_ *proc.Thread, a *Args) (uint64, error) {
	_, v, err := priorities(a[0])
	return v, err
}

// Operations of flock.
const (
	lockShared, lockExclusive = 1, 2
	lockNonblock              = 4
	lockNone                  = 8
)

// flock locks an open file against other openings of the same one.
func flock(t *proc.Thread, f *vfs.File, a *Args) (uint64, error) {
	op := asInt(a[1])
	switch op &^ lockNonblock {
	case lockNone:
		f.Unlock()
		return 0, nil
	case lockShared, lockExclusive:
	default:
		return 0, sys.EINVAL
	}
	if err := f.Lock(op&lockExclusive != 0); err != sys.EAGAIN || op&lockNonblock != 0 {
		return 0, err
	}
	return done(f.LockWait(op&lockExclusive != 0, t.Cancel()))
}

// personality sets the flags of proc.Process.Persona. Of these, uname26, stickyTimeouts and
// readImpliesExec have an effect.
//
// Source: Linux, personality(2).
func personality(t *proc.Thread, a *Args) (uint64, error) {
	if p := uint32(a[0]); p != ^uint32(0) {
		return uint64(t.Process().SetPersona(p)), nil
	}
	return uint64(t.Process().Persona()), nil
}

// Flags of personality.
const (
	uname26         = 0x0020000
	readImpliesExec = 0x0400000
	stickyTimeouts  = 0x4000000
)

// persona reports whether a flag of personality is set.
func persona(t *proc.Thread, flag uint32) bool { return t.Process().Persona()&flag != 0 }

// rtTgsigqueueinfo is rt_sigqueueinfo for a thread.
func rtTgsigqueueinfo(t *proc.Thread, a *Args) (uint64, error) {
	info, err := get[abi.Siginfo](t, a[3])
	if err != nil {
		return 0, err
	}
	pid, tid, n := asInt(a[0]), asInt(a[1]), asInt(a[2])
	if pid <= 0 || tid <= 0 || !signal.Valid(n) {
		return 0, sys.EINVAL
	}
	to, err := t.Process().Table().FindThread(pid, tid)
	if err != nil {
		return 0, err
	}
	if to.Process() != t.Process() && (info.Code >= 0 || info.Code == abi.SI_TKILL) {
		return 0, sys.EPERM
	}
	info.Signo = int32(n)
	return sent(to.Send(info))
}

// offset adds n to an address; 0, which means none, stays 0.
func offset(addr, n uint64) uint64 {
	if addr == 0 {
		return 0
	}
	return addr + n
}

// execveat executes a file relative to a directory, or an open file.
func execveat(t *proc.Thread, a *Args) (uint64, error) {
	if a[4]&^(abi.AT_EMPTY_PATH|abi.AT_SYMLINK_NOFOLLOW) != 0 {
		return 0, sys.EINVAL
	}
	path, err := pathAt(t, a[1])
	if err != nil {
		return 0, err
	}
	dir := start(t)
	switch {
	case path == "" && a[4]&abi.AT_EMPTY_PATH != 0:
		path = "/proc/self/fd/" + strconv.Itoa(asInt(a[0]))
		_, err = anyFile(t, a[0])
	case path == "" || path[0] != '/':
		dir, err = base(t, a[0])
	}
	if err == nil && a[4]&abi.AT_SYMLINK_NOFOLLOW != 0 {
		err = refuseLink(dir, path)
	}
	if err != nil {
		return 0, err
	}
	return exec(t, dir, path, a[2], a[3])
}

func refuseLink(dir *vfs.Place, path string) error {
	i, err := vfs.Root.StatAt(dir, path, false)
	if err == nil && i.ModeBits()&abi.S_IFMT == abi.S_IFLNK {
		err = sys.ELOOP
	}
	return err
}
