package syscall

import (
	"io/fs"
	"sync"
	"sync/atomic"
	sys "syscall"

	"sonde/kernel/abi"
	"sonde/kernel/lock"
	"sonde/kernel/refusal"
	"sonde/kernel/vfs"
	"sonde/linux/desc"
	"sonde/linux/proc"
)

// Files is the file state of a process: descriptors, current directory and umask. It implements
// proc.Resources.
type Files struct {
	desc atomic.Pointer[desc.Table] // changed by unshare, while others may read it
	dir  *directory
	maps atomic.Int64 // bytes of the maps that the process has made by bpf(2)

	unsharing sync.Mutex // held while desc is changed
}

// directory is the state that CLONE_FS shares.
type directory struct {
	mu sync.Mutex
	// guarded by mu:
	cwd   *vfs.Place
	umask fs.FileMode
}

// NewFiles makes the Files of a first program, whose descriptors 0 and up are the open files; it
// takes over the caller's holds of them.
func NewFiles(cwd *vfs.Place, open ...*vfs.File) (*Files, error) {
	f := &Files{dir: &directory{cwd: cwd, umask: 0022}}
	f.desc.Store(new(desc.Table))
	for _, o := range open {
		if _, err := f.Descriptors().Install(o, false, 0, len(open)); err != nil {
			return nil, err
		}
	}
	return f, nil
}

// Clone implements proc.Resources.
func (f *Files) Clone(flags uint64) proc.Resources {
	c := &Files{dir: f.dir}
	if flags&abi.CLONE_FILES != 0 {
		c.desc.Store(f.Descriptors().Share())
	} else {
		c.desc.Store(f.Descriptors().Clone())
	}
	if flags&abi.CLONE_FS == 0 {
		c.dir = f.dir.clone()
	}
	return c
}

func (d *directory) clone() *directory {
	d.mu.Lock()
	defer d.mu.Unlock()
	return &directory{cwd: d.cwd, umask: d.umask}
}

// Exec implements proc.Resources.
func (f *Files) Exec() {
	f.unshare()
	f.Descriptors().Exec()
}

// unshare gives the process its own table of descriptors.
func (f *Files) unshare() {
	f.unsharing.Lock()
	defer f.unsharing.Unlock()
	if shared := f.Descriptors(); !shared.Alone() {
		f.desc.Store(shared.Clone())
		shared.Leave()
	}
}

// Close implements proc.Resources.
func (f *Files) Close() { f.Descriptors().Leave() }

// Descriptors returns the table of open files.
func (f *Files) Descriptors() *desc.Table { return f.desc.Load() }

// Cwd returns the current directory.
func (f *Files) Cwd() *vfs.Place { return lock.Get(&f.dir.mu, &f.dir.cwd) }

// filesOf returns those of t's process.
func filesOf(t *proc.Thread) *Files { return t.Process().Resources().(*Files) }

// fileOf returns the open file of a descriptor, for an operation on it.
//
// Errors: EBADF, also for one opened with O_PATH.
func fileOf(t *proc.Thread, fd uint64) (*vfs.File, error) {
	f, err := filesOf(t).Descriptors().Get(asInt(fd)) // anyFile
	if err == nil && f.Flags()&abi.O_PATH != 0 {
		return nil, sys.EBADF
	}
	return f, err
}

// fileAs returns what an open file is, which must be a T.
//
// Errors: EBADF; EINVAL it is something else.
func fileAs[T any](t *proc.Thread, fd uint64) (is T, err error) {
	f, err := fileOf(t, fd)
	if err != nil {
		return is, err
	}
	is, ok := f.Handle().(T)
	if !ok {
		return is, sys.EINVAL
	}
	return is, nil
}

// anyFile returns the file of a descriptor, which may have been opened with O_PATH.
//
// Errors: EBADF.
func anyFile(t *proc.Thread, fd uint64) (*vfs.File, error) {
	return filesOf(t).Descriptors().Get(asInt(fd))
}

// MostOpen is how many files may be open in all, each of which takes the kernel up to 1 KiB. Written at boot.
var MostOpen = 1 << 16

// mayOpen refuses n files more if there are too many then.
//
// Errors: ENFILE.
func mayOpen(n int) error {
	if vfs.Opened()+n > MostOpen {
		return refusal.New(sys.ENFILE, "%d files are open: fs.file-max is %d", vfs.Opened(), MostOpen)
	}
	return nil
}

// install gives a file that has just been opened the lowest free descriptor. It takes over the hold.
//
// Errors: EMFILE, ENFILE; the file is closed then.
func install(t *proc.Thread, f *vfs.File, closeOnExec bool) (uint64, error) {
	if err := mayOpen(0); err != nil {
		vfs.Close(f)
		return 0, err
	}
	return give(t, f, closeOnExec)
}

// give is install for a file that may have been open before.
//
// Errors: EMFILE; the file is closed then.
func give(t *proc.Thread, f *vfs.File, closeOnExec bool) (uint64, error) {
	fd, err := filesOf(t).Descriptors().Install(f, closeOnExec, 0, maxFiles(t))
	if err != nil {
		vfs.Close(f)
		return 0, err
	}
	return uint64(fd), nil
}

// mostFiles is the largest possible limit of descriptors.
const mostFiles = 1 << 20

// maxFiles is the limit of descriptors of t's process.
func maxFiles(t *proc.Thread) int {
	l, err := t.Process().Limit(abi.RLIMIT_NOFILE)
	if err != nil {
		return 0
	}
	return int(min(l.Cur, mostFiles))
}
