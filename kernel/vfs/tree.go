package vfs

import (
	"io/fs"
	"path"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// FS is a tree of names. Its methods take absolute slash paths. Those with At in their name take
// paths from a Place, as programs give them; those of fs.FS, in iofs.go, take the names of fs.FS.
type FS struct {
	root *Dir
	made time.Time

	used   atomic.Int64 // pages of files, and one for each node
	limit  atomic.Int64 // of used; see SetLimit
	frames atomic.Int64 // frames of files

	mu sync.RWMutex // guards all names: see Dir
}

// New returns a tree with only a root, in which users may create names.
func New() *FS {
	f := &FS{made: time.Now()}
	f.limit.Store(defaultLimit / pageSize)
	f.root = f.newDir(0755)
	f.root.parent = f.root
	f.root.links++
	return f
}

// clean makes an absolute path without "." and "..".
func clean(name string) string { return path.Clean("/" + name) }

func (f *FS) place(name string, follow bool) (Place, error) {
	return walk(f.RootPlace(), "/"+name, follow)
}

func pathError(op, name string, err error) error {
	if err == nil || err == syscall.EAGAIN { // readers compare it, and it is frequent
		return err
	}
	return &fs.PathError{Op: op, Path: name, Err: err}
}

// MkdirAll makes a directory and its parents for the kernel: the modes of the parents are ignored.
// perm is the mode of new directories; without write permission they are sealed.
//
// Errors: ENOTDIR (wrapped with the path).
func (f *FS) MkdirAll(name string, perm fs.FileMode) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	_, err := f.mkdirAll(name, perm)
	return pathError("mkdir", name, err)
}

// mkdirAll makes directories. Context: mu held.
func (f *FS) mkdirAll(name string, perm fs.FileMode) (*Dir, error) {
	d, at := f.root, ""
	for part := range strings.SplitSeq(clean(name), "/") {
		if part == "" {
			continue
		}
		at += "/" + part
		n := d.nodes[part].Node
		if n == nil {
			sub := f.newDir(perm)
			sub.sealed, sub.dev = perm&0200 == 0, deviceOf(at)
			if err := d.addNew(part, sub); err != nil {
				return nil, err
			}
			n = sub
		}
		next, ok := n.(*Dir)
		if !ok {
			return nil, syscall.ENOTDIR
		}
		d = next
	}
	return d, nil
}

// Bind puts a node at a path, and makes the directories above it. It ignores the modes of
// directories: it is for the kernel, not for its users.
//
// Errors: EEXIST, ENOTDIR (wrapped with the path).
func (f *FS) Bind(name string, n Node) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	dir, base := path.Split(clean(name))
	if base == "" {
		return pathError("bind", name, syscall.EEXIST)
	}
	d, err := f.mkdirAll(dir, 0555)
	if err == nil {
		err = d.add(base, n)
	}
	return pathError("bind", name, err)
}

// BindAll is Bind for the nodes of a directory, by their names in it.
//
// Errors: those of Bind.
func (f *FS) BindAll(dir string, nodes map[string]Node) error {
	for name, n := range nodes {
		if err := f.Bind(dir+"/"+name, n); err != nil {
			return err
		}
	}
	return nil
}

// Unbind removes a node, or a directory with everything in it, from the tree. Open files stay open.
//
// Errors: ENOENT, ENOTDIR (wrapped with the path).
func (f *FS) Unbind(name string) error {
	last, err := walkTo(f.RootPlace(), clean(name))
	if err == nil {
		err = last.unbind()
	}
	return pathError("unbind", name, err)
}

func (l *final) unbind() error {
	if err := l.plain(syscall.EBUSY); err != nil {
		return err
	}
	d, err := l.memory(true)
	if err != nil {
		return err
	}
	d.fs.mu.Lock()
	defer d.fs.mu.Unlock()
	if d.nodes[l.name].Node == nil {
		return syscall.ENOENT
	}
	d.drop(l.name)
	return nil
}

// Mkdir makes a directory.
//
// Errors: EEXIST, EACCES, ENOENT, ENOTDIR (wrapped with the path).
func (f *FS) Mkdir(name string) error {
	return pathError("mkdir", name, f.mkdir(f.RootPlace(), "/"+name, 0755))
}

// Remove removes a file or an empty directory.
//
// Errors: ENOENT, ENOTEMPTY, EACCES, EPERM (wrapped with the path).
func (f *FS) Remove(name string) error {
	err := removeAt(f.RootPlace(), "/"+name, anything)
	return pathError("remove", name, err)
}
