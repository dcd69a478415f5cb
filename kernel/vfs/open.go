package vfs

import (
	"errors"
	"io/fs"
	"syscall"

	"sonde/kernel/abi"
	"sonde/kernel/refusal"
)

// OpenFile opens the node at an absolute path; flag is as for os.OpenFile. O_CREATE makes a file in
// memory where users may create names.
//
// Errors: as OpenAt.
func (f *FS) OpenFile(name string, flag int) (*File, error) {
	return f.openAt(f.RootPlace(), "/"+name, name, flag, 0644)
}

// OpenAt opens the node at a path from dir. perm is for the file that O_CREAT makes.
//
// Errors: ENOENT, ENOTDIR, EACCES, EISDIR, EEXIST, ELOOP, ENXIO, EINVAL (O_CREAT of a
// directory), and those of the node (wrapped with the path).
func (f *FS) OpenAt(dir *Place, name string, flag int, perm fs.FileMode) (*File, error) {
	return f.openAt(dir, name, name, flag, perm)
}

func (f *FS) openAt(dir *Place, path, name string, flag int, perm fs.FileMode) (*File, error) {
	if flag&O_TMPFILE == O_TMPFILE {
		file, err := f.openUnnamed(dir, path, flag, perm)
		return file, pathError("open", name, err)
	}
	p, h, flag, err := f.openPlace(dir, path, flag, perm)
	if err != nil {
		return nil, pathError("open", name, err)
	}
	file := NewFile(name, p.node, h, flag&(accessMask|settable|O_PATH|O_DIRECTORY))
	file.place = &p
	if flag&O_PATH == 0 {
		file.opened(flag)
	}
	return file, nil
}

// openPlace finds a place and opens its node; flag is what remains to be applied. A file that loses
// its last name meanwhile is looked up again: another one may have got that name. A Jumper may lead
// to such a file for ever.
func (f *FS) openPlace(dir *Place, path string, flag int, perm fs.FileMode) (Place, Handle, int, error) {
	var last Node
	for {
		p, rest, err := f.find(dir, path, flag, perm)
		if err != nil {
			return p, nil, 0, err
		}
		h, err := openNode(p.node, rest, dir.viewer)
		if !errors.Is(err, errDead) || p.node == last {
			return p, h, rest, err
		}
		last = p.node
	}
}

// find returns the place to open and the flags that remain to be applied: a new file need not be
// truncated. With O_CREAT it makes a missing file.
func (f *FS) find(dir *Place, path string, flag int, perm fs.FileMode) (Place, int, error) {
	create := flag&(O_CREAT|O_PATH) == O_CREAT
	if create && flag&O_DIRECTORY != 0 {
		return Place{}, 0, syscall.EINVAL
	}
	exclusive := create && flag&O_EXCL != 0
	follow := flag&O_NOFOLLOW == 0 && !exclusive
	for {
		// Another goroutine may make the file first; then the name is looked up again.
		w := walkFrom(dir)
		w.creates = create
		err := w.run(path, follow)
		switch {
		case err == nil && exclusive:
			return Place{}, 0, syscall.EEXIST
		case err == nil:
			return w.cur, flag, w.cur.opens(flag)
		case !create || w.missing == "":
			return Place{}, 0, err
		}
		if err := f.create(&w.cur, w.missing, perm); err != nil && err != syscall.EEXIST {
			return Place{}, 0, err
		} else if err == nil {
			p, err := w.cur.child(w.missing)
			return p, flag &^ O_TRUNC, err
		} else if exclusive {
			return Place{}, 0, err
		}
	}
}

// create makes an empty file in the directory p.
func (f *FS) create(p *Place, name string, perm fs.FileMode) error {
	dir := final{dir: *p, name: name}
	d, err := dir.memory(false)
	if err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := d.addNew(name, f.newRegular(perm)); err != nil {
		return err
	}
	tell(d.ino, abi.IN_CREATE, 0, name)
	return nil
}

// opened reports to watches that a file has been opened and, depending on flag, truncated.
func (f *File) opened(flag int) {
	f.happened(abi.IN_OPEN)
	if _, ok := f.node.(Sizer); ok && flag&O_TRUNC != 0 && flag&accessMask != O_RDONLY {
		f.happened(abi.IN_MODIFY)
	}
}

// opens refuses a place that cannot be opened with flag.
func (p *Place) opens(flag int) error {
	_, isDir := p.node.(Directory)
	_, isLink := p.node.(Link)
	switch {
	case flag&O_PATH != 0 && flag&O_DIRECTORY == 0:
		return nil
	case isLink && flag&O_DIRECTORY == 0:
		return syscall.ELOOP // only O_NOFOLLOW leads here
	case flag&O_DIRECTORY != 0 && !isDir:
		return syscall.ENOTDIR
	case flag&O_CREAT != 0 && isDir:
		return syscall.EISDIR
	}
	return nil
}

// What the kernel's own files and directories refuse to everybody, though every process is root.
var (
	errReadOnly  = refusal.New(syscall.EACCES, "this file can only be read")
	errWriteOnly = refusal.New(syscall.EACCES, "this file can only be written")
	errSealed    = refusal.New(syscall.EACCES, "only the kernel makes and removes names in this directory")
)

// openNode checks whether n allows the access in flag, and opens it.
func openNode(n Node, flag int, viewer any) (Handle, error) {
	if flag&O_PATH != 0 {
		return nil, nil
	}
	access, mode := flag&accessMask, n.Stat().Mode
	if mode.IsDir() {
		if access != O_RDONLY {
			return nil, syscall.EISDIR
		}
		return nil, nil
	}
	if !removable(n) { // the mode of a bound node says which access it supports
		switch {
		case access != O_WRONLY && mode&0400 == 0:
			return nil, errWriteOnly
		case access != O_RDONLY && mode&0200 == 0:
			return nil, errReadOnly
		}
	}
	switch o := n.(type) {
	case ViewedOpener:
		return o.OpenFor(viewer, flag)
	case Opener:
		return o.Open(flag)
	}
	return nil, syscall.ENXIO
}
