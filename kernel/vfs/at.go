package vfs

import (
	"io/fs"
	"syscall"
	"time"

	"sonde/kernel/abi"
)

// Programs' operations on names. Each takes the place where relative paths begin.

// MkdirAt makes a directory.
//
// Errors: EEXIST, EACCES, ENOENT, ENOTDIR, ELOOP (wrapped with the path).
func (f *FS) MkdirAt(dir *Place, name string, perm fs.FileMode) error {
	return pathError("mkdir", name, f.mkdir(dir, name, perm))
}

func (f *FS) mkdir(dir *Place, name string, perm fs.FileMode) error {
	return f.makeAt(dir, name, true, func() (Node, error) { return f.newDir(perm & permMask), nil })
}

// SymlinkAt makes a symbolic link.
//
// Errors: as MkdirAt; ENOENT for an empty target.
func (f *FS) SymlinkAt(target string, dir *Place, name string) error {
	if target == "" {
		return pathError("symlink", name, syscall.ENOENT)
	}
	return pathError("symlink", name, f.makeAt(dir, name, false, func() (Node, error) { return newSymlink(target), nil }))
}

// MakeFileAt makes an empty regular file, as mknod does.
//
// Errors: as MkdirAt.
func (f *FS) MakeFileAt(dir *Place, name string, perm fs.FileMode) error {
	return pathError("mknod", name, f.makeAt(dir, name, false, func() (Node, error) { return f.newRegular(perm), nil }))
}

// AddAt gives a name to a node made by NewNode.
//
// Errors: as MkdirAt.
func (f *FS) AddAt(dir *Place, name string, n Node) error {
	return pathError("mknod", name, f.makeAt(dir, name, false, func() (Node, error) { return n, nil }))
}

// again returns the node of p, to be given another name, if it still has the name under which it
// was found: a node without names gets none again.
// Context: fs.mu held.
func (p *Place) again() (Node, error) {
	if d, ok := p.up.node.(*Dir); !ok || d.nodes[p.name].Node != p.node {
		return nil, syscall.ENOENT
	}
	return p.node, nil
}

// makeAt gives a free name to the node that make returns. Only the name of a directory may end in a
// slash.
func (f *FS) makeAt(dir *Place, name string, isDir bool, make func() (Node, error)) error {
	last, err := freeName(dir, name, isDir)
	if err != nil {
		return err
	}
	if m, ok := last.dir.node.(Maker); ok && isDir {
		return m.Make(last.name)
	}
	return f.makeIn(last, make)
}

// freeName finds the place for a new name.
//
// Errors: EEXIST, ENOENT, ENOTDIR, ELOOP.
func freeName(dir *Place, name string, isDir bool) (final, error) {
	last, err := walkTo(dir, name)
	if err != nil {
		return final{}, err
	}
	if err := last.plain(syscall.EEXIST); err != nil {
		return final{}, err
	}
	if _, err := last.dir.child(last.name); err == nil {
		return final{}, syscall.EEXIST // before EACCES, as in Linux
	}
	if last.slash && !isDir {
		return final{}, syscall.ENOENT
	}
	return last, nil
}

func (f *FS) makeIn(last final, make func() (Node, error)) error {
	d, err := last.memory(false)
	if err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	n, err := make()
	if err != nil {
		return err
	}
	if err := d.addNew(last.name, n); err != nil {
		return err
	}
	if removable(n) && ofDirectory(n) == 0 && n.Stat().Links > 1 {
		tellNode(n, abi.IN_ATTRIB) // it has been linked
	}
	tell(d.ino, abi.IN_CREATE|ofDirectory(n), 0, last.name)
	return nil
}

// LinkAt gives the node at from another name. follow says whether a symbolic
// link at from is followed.
//
// Errors: EXDEV on another mount, EPERM for directories and bound nodes, and as MkdirAt (wrapped).
func (f *FS) LinkAt(fromDir *Place, from string, dir *Place, name string, follow bool) error {
	p, err := walk(fromDir, from, follow)
	if err == nil {
		err = f.linkPlace(&p, dir, name)
	}
	return pathError("link", name, err)
}

// LinkFile gives an open file another name, or the first name to a file made by O_TMPFILE.
//
// Errors: as LinkAt; ENOENT for a file that can never have a name.
func (f *FS) LinkFile(file *File, dir *Place, name string) error {
	p := f.PlaceOf(file)
	return pathError("link", name, f.linkPlace(&p, dir, name))
}

func (f *FS) linkPlace(p, dir *Place, name string) error {
	last, err := freeName(dir, name, false)
	if err != nil {
		return err
	}
	if last.dir.device() != p.device() {
		return syscall.EXDEV
	}
	if _, isDir := p.node.(Directory); isDir || !removable(p.node) {
		return syscall.EPERM
	}
	if r, ok := p.node.(*regular); ok && r.unnamed.Load() {
		return f.nameFirst(r, last)
	}
	return f.makeIn(last, p.again)
}

// nameFirst gives a file that was made without a name its first one.
//
// Errors: ENOENT if the file was closed meanwhile, and as makeIn.
func (f *FS) nameFirst(r *regular, last final) error {
	if err := r.use(); err != nil {
		return err
	}
	defer r.Drop()
	err := f.makeIn(last, func() (Node, error) { return r, nil })
	if err == nil {
		r.unnamed.Store(false)
	}
	return err
}

// StatAt describes the node at a path.
//
// Errors: as MkdirAt, except EEXIST and EACCES.
func (f *FS) StatAt(dir *Place, name string, follow bool) (Info, error) {
	p, err := walk(dir, name, follow)
	if err != nil {
		return Info{}, pathError("stat", name, err)
	}
	return p.info(), nil
}

// PlaceAt finds a place, to change to that directory or to inspect it.
//
// Errors: as StatAt; ENOTDIR if mustDir and it is not a directory.
func (f *FS) PlaceAt(dir *Place, name string, follow, mustDir bool) (*Place, error) {
	p, err := walk(dir, name, follow)
	if err == nil && mustDir {
		if _, ok := p.node.(Directory); !ok {
			err = syscall.ENOTDIR
		}
	}
	if err != nil {
		return nil, pathError("lookup", name, err)
	}
	return &p, nil
}

// ReadlinkAt returns the target of a symbolic link.
//
// Errors: EINVAL if it is not a symbolic link; as StatAt.
func (f *FS) ReadlinkAt(dir *Place, name string) (string, error) {
	p, err := walk(dir, name, false)
	if err != nil {
		return "", pathError("readlink", name, err)
	}
	l, ok := p.node.(Link)
	if !ok {
		return "", pathError("readlink", name, syscall.EINVAL)
	}
	target, err := targetFor(l, dir.viewer)
	return target, pathError("readlink", name, err)
}

// TruncateAt sets the size of a file.
//
// Errors: EISDIR, EINVAL, EFBIG, Leased, and as StatAt.
func (f *FS) TruncateAt(dir *Place, name string, size int64) error {
	p, err := walk(dir, name, true)
	if err == nil {
		err = truncate(p.node, size)
	}
	if err == nil {
		p.happened(abi.IN_MODIFY)
	}
	return pathError("truncate", name, err)
}

// truncate is setSize for a caller that has not opened the file.
func truncate(n Node, size int64) error {
	if r, ok := n.(*regular); ok && size >= 0 {
		if err := r.access.enter(O_WRONLY); err != nil {
			return err
		}
		defer r.access.left(O_WRONLY)
	}
	return setSize(n, size)
}

func setSize(n Node, size int64) error {
	if _, ok := n.(Directory); ok {
		return syscall.EISDIR
	}
	s, ok := n.(Sizer)
	if !ok || size < 0 {
		return syscall.EINVAL
	}
	return s.SetSize(size)
}

// ChangeAt changes the attributes of a node. op is what errors call that.
//
// Errors: EPERM if they cannot be changed; as StatAt.
func (f *FS) ChangeAt(op string, dir *Place, name string, follow bool, change func(Changer)) error {
	p, err := walk(dir, name, follow)
	if err != nil {
		return pathError(op, name, err)
	}
	return pathError(op, name, p.Change(change))
}

// Change changes the attributes of the node at p.
//
// Errors: EPERM if they cannot be changed.
func (p *Place) Change(change func(Changer)) error {
	c, ok := p.node.(Changer)
	if !ok {
		return syscall.EPERM
	}
	n := noting{Changer: c}
	change(&n)
	p.happened(n.what)
	return nil
}

// Change is Place.Change for an open file.
func (f *File) Change(change func(Changer)) error {
	p := f.place
	if p == nil {
		p = &Place{node: f.node}
	}
	return p.Change(change)
}

// noting is a Changer that notes which events watches must be told.
type noting struct {
	Changer
	what uint32
}

func (n *noting) SetMode(perm fs.FileMode) {
	n.Changer.SetMode(perm)
	n.what |= abi.IN_ATTRIB
}

func (n *noting) SetOwner(uid, gid uint32) {
	n.Changer.SetOwner(uid, gid)
	n.what |= abi.IN_ATTRIB
}

// SetTimes reports a change of one time as if the file had been read or written.
func (n *noting) SetTimes(access, modified time.Time) {
	n.Changer.SetTimes(access, modified)
	switch {
	case access.IsZero() && modified.IsZero():
	case modified.IsZero():
		n.what |= abi.IN_ACCESS
	case access.IsZero():
		n.what |= abi.IN_MODIFY
	default:
		n.what |= abi.IN_ATTRIB
	}
}
