package syscall

import (
	"io/fs"
	"sync"

	"sonde/kernel/abi"
	"sonde/kernel/proc"
	"sonde/kernel/vfs"
	"sonde/kernel/vfs/desc"
)

// Files is what a process has of files: descriptors, the current directory, the
// mask of permissions. It implements proc.Resources.
type Files struct {
	desc *desc.Table
	dir  *directory
}

// directory is what CLONE_FS shares.
type directory struct {
	mu sync.Mutex
	// guarded by mu:
	cwd   *vfs.Place
	umask fs.FileMode
}

// NewFiles makes those of a first program, which has the open files as descriptors 0
// and up; it takes over the caller's holds of them.
func NewFiles(cwd *vfs.Place, open ...*vfs.File) (*Files, error) {
	f := &Files{desc: new(desc.Table), dir: &directory{cwd: cwd, umask: 0022}}
	for _, o := range open {
		if _, err := f.desc.Install(o, false, 0, len(open)); err != nil {
			return nil, err
		}
	}
	return f, nil
}

// Clone implements proc.Resources.
func (f *Files) Clone(flags uint64) proc.Resources {
	c := &Files{dir: f.dir}
	if flags&abi.CLONE_FILES != 0 {
		c.desc = f.desc.Share()
	} else {
		c.desc = f.desc.Clone()
	}
	if flags&abi.CLONE_FS == 0 {
		f.dir.mu.Lock()
		c.dir = &directory{cwd: f.dir.cwd, umask: f.dir.umask}
		f.dir.mu.Unlock()
	}
	return c
}

// Exec implements proc.Resources.
func (f *Files) Exec() {
	if !f.desc.Alone() {
		shared := f.desc
		f.desc = shared.Clone()
		shared.Leave()
	}
	f.desc.Exec()
}

// Close implements proc.Resources.
func (f *Files) Close() { f.desc.Leave() }

// Descriptors returns the table of open files.
func (f *Files) Descriptors() *desc.Table { return f.desc }

// Cwd returns the current directory.
func (f *Files) Cwd() *vfs.Place {
	f.dir.mu.Lock()
	defer f.dir.mu.Unlock()
	return f.dir.cwd
}

// filesOf returns those of t's process.
func filesOf(t *proc.Thread) *Files { return t.Process().Resources().(*Files) }

// fileOf returns the open file of a descriptor.
//
// Errors: EBADF.
func fileOf(t *proc.Thread, fd uint64) (*vfs.File, error) {
	return filesOf(t).desc.Get(asInt(fd))
}

// install gives an open file the lowest free descriptor. It takes over the hold.
//
// Errors: EMFILE; the file is closed then.
func install(t *proc.Thread, f *vfs.File, closeOnExec bool) (uint64, error) {
	fd, err := filesOf(t).desc.Install(f, closeOnExec, 0, maxFiles(t))
	if err != nil {
		vfs.Close(f)
		return 0, err
	}
	return uint64(fd), nil
}

// maxFiles is above the largest descriptor that t's process may have.
func maxFiles(t *proc.Thread) int {
	l, err := t.Process().Limit(abi.RLIMIT_NOFILE)
	if err != nil {
		return 0
	}
	return int(min(l.Cur, 1<<20))
}
