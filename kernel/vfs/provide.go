package vfs

import (
	"io/fs"
	"syscall"
)

// ProvideAt makes a file whose contents are data, without a copy: data must never change. Writes to
// the file go to pages of its own.
//
// Errors: as MkdirAt; EFBIG.
func (f *FS) ProvideAt(dir *Place, name string, perm fs.FileMode, data []byte) error {
	if len(data) > MaxFile {
		return pathError("provide", name, syscall.EFBIG)
	}
	return pathError("provide", name, f.makeAt(dir, name, false, func() (Node, error) {
		r := f.newRegular(perm)
		r.provide(data)
		return r, nil
	}))
}

// Refill replaces the contents of an existing file by data, as ProvideAt does.
//
// Errors: EINVAL if it is not a regular file, and as StatAt.
func (f *FS) Refill(dir *Place, name string, data []byte) error {
	p, err := walk(dir, name, true)
	if err == nil {
		if r, ok := p.node.(*regular); ok {
			err = r.SetSize(0)
			r.provide(data)
		} else {
			err = syscall.EINVAL
		}
	}
	return pathError("provide", name, err)
}

// provide makes data the contents of an empty file.
func (r *regular) provide(data []byte) {
	r.data.Lock()
	defer r.data.Unlock()
	r.pages.base, r.size = data[:len(data):len(data)], int64(len(data))
}
