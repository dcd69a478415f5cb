package vfs

import (
	"io/fs"
	"os"
	"path"
	"strings"
	"syscall"
	"time"
)

// FS is a tree of names. Its methods take absolute slash paths, in which "."
// and ".." are resolved; those of fs.FS, in iofs.go, take the names of fs.FS.
type FS struct {
	root *Dir
}

// New returns a tree with only a root, in which users may make names.
func New() *FS { return &FS{root: newDir(0755)} }

// clean makes an absolute path without "." and "..".
func clean(name string) string { return path.Clean("/" + name) }

// walk finds the node of a path.
//
// Errors: ENOENT, ENOTDIR.
func (f *FS) walk(name string) (Node, error) {
	var n Node = f.root
	for part := range strings.SplitSeq(clean(name), "/") {
		if part == "" {
			continue
		}
		dir, ok := n.(Directory)
		if !ok {
			return nil, syscall.ENOTDIR
		}
		var err error
		if n, err = dir.Lookup(part); err != nil {
			return nil, err
		}
	}
	return n, nil
}

// parent finds the directory in memory in which name is to be made or removed.
//
// Errors: ENOENT, ENOTDIR, EACCES; EEXIST for the root itself.
func (f *FS) parent(name string, force bool) (*Dir, string, error) {
	dir, base := path.Split(clean(name))
	if base == "" {
		return nil, "", syscall.EEXIST
	}
	n, err := f.walk(dir)
	if err != nil {
		return nil, "", err
	}
	d, ok := n.(*Dir)
	if !ok {
		if _, ok := n.(Directory); !ok {
			return nil, "", syscall.ENOTDIR
		}
		return nil, "", syscall.EACCES // it makes its own names
	}
	if !force && !d.writable() {
		return nil, "", syscall.EACCES
	}
	return d, base, nil
}

func pathError(op, name string, err error) error {
	if err == nil {
		return nil
	}
	return &fs.PathError{Op: op, Path: name, Err: err}
}

// MkdirAll makes a directory and those above it, for the kernel: the mode of
// the directories on the way is disregarded. perm is that of the new ones.
//
// Errors: ENOTDIR, EACCES (wrapped with the path).
func (f *FS) MkdirAll(name string, perm fs.FileMode) error {
	d := f.root
	for part := range strings.SplitSeq(clean(name), "/") {
		if part == "" {
			continue
		}
		n := d.findOrAdd(part, newDir(perm))
		next, ok := n.(*Dir)
		if !ok {
			return pathError("mkdir", name, syscall.ENOTDIR)
		}
		d = next
	}
	return nil
}

// Bind puts a node at a path, making the directories above it. Modes of
// directories are disregarded: it is for the kernel, not for its users.
//
// Errors: EEXIST, ENOTDIR (wrapped with the path).
func (f *FS) Bind(name string, n Node) error {
	name = clean(name)
	if err := f.MkdirAll(path.Dir(name), 0555); err != nil {
		return err
	}
	d, base, err := f.parent(name, true)
	if err == nil {
		err = d.add(base, n)
	}
	return pathError("bind", name, err)
}

// Unbind takes a node, or a directory with all there is in it, off the tree.
// Files that are open stay so.
//
// Errors: ENOENT (wrapped with the path).
func (f *FS) Unbind(name string) error {
	d, base, err := f.parent(name, true)
	if err == nil {
		err = d.remove(base, true)
	}
	return pathError("unbind", name, err)
}

// Mkdir makes a directory.
//
// Errors: EEXIST, EACCES, ENOENT, ENOTDIR (wrapped with the path).
func (f *FS) Mkdir(name string) error {
	d, base, err := f.parent(name, false)
	if err == nil {
		err = d.add(base, newDir(0755))
	}
	return pathError("mkdir", name, err)
}

// Remove takes away a file or an empty directory.
//
// Errors: ENOENT, ENOTEMPTY, EACCES, EPERM (wrapped with the path).
func (f *FS) Remove(name string) error {
	d, base, err := f.parent(name, false)
	if err == nil {
		err = d.remove(base, false)
	}
	return pathError("remove", name, err)
}

// create finds or makes a file for O_CREATE.
func (f *FS) create(name string, flag int) (Node, error) {
	if n, err := f.walk(name); err == nil {
		if flag&os.O_EXCL != 0 {
			return nil, syscall.EEXIST
		}
		return n, nil
	}
	d, base, err := f.parent(name, false)
	if err != nil {
		return nil, err
	}
	return d.findOrAdd(base, &regular{modTime: time.Now()}), nil
}
