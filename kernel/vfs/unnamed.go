package vfs

import (
	"io/fs"
	"strconv"
	"syscall"
)

// openUnnamed makes a file without a name on the file system of a directory. LinkAt can give it
// one, unless O_EXCL is set.
//
// Errors: EINVAL if it is not opened for writing, ENOTDIR, EACCES, and as StatAt.
func (f *FS) openUnnamed(dir *Place, path string, flag int, perm fs.FileMode) (*File, error) {
	if flag&accessMask == O_RDONLY || flag&O_CREAT != 0 {
		return nil, syscall.EINVAL
	}
	at, err := walk(dir, path, true)
	if err != nil {
		return nil, err
	}
	if _, ok := at.node.(Directory); !ok {
		return nil, syscall.ENOTDIR
	}
	if _, err := (&final{dir: at}).memory(false); err != nil {
		return nil, err
	}
	r := f.newRegular(perm)
	r.unnamed.Store(flag&O_EXCL == 0)
	file, err := r.opened("/", flag)
	if err == nil {
		file.place = &Place{fs: f, node: r, ino: r.ino, up: &at, name: "#" + strconv.FormatUint(r.ino, 10)}
	}
	return file, err
}

// NewMemFile makes a file that never has a name in the tree, open for reading and writing. name is
// shown to people.
func (f *FS) NewMemFile(name string) (*File, error) {
	r := f.newRegular(0777)
	r.access.memory = true
	return r.opened("/memfd:"+name+" (deleted)", O_RDWR)
}

func (r *regular) opened(name string, flag int) (*File, error) {
	h, err := r.Open(flag)
	if err != nil {
		return nil, err
	}
	return NewFile(name, r, h, flag&(accessMask|settable)), nil
}
