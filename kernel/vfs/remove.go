package vfs

import (
	"syscall"

	"sonde/kernel/abi"
)

// kind says what removeAt may remove.
type kind uint8

const (
	anything kind = iota
	noDirectory
	onlyDirectory
)

// UnlinkAt removes a name of a node that is not a directory. The contents stay for other names and
// open files.
//
// Errors: EISDIR, ENOENT, EACCES, EPERM, ENOTDIR, ELOOP (wrapped with the path).
func (f *FS) UnlinkAt(dir *Place, name string) error {
	return pathError("unlink", name, removeAt(dir, name, noDirectory))
}

// RmdirAt removes an empty directory.
//
// Errors: ENOTEMPTY, ENOTDIR, EBUSY, EINVAL, and as UnlinkAt.
func (f *FS) RmdirAt(dir *Place, name string) error {
	return pathError("rmdir", name, removeAt(dir, name, onlyDirectory))
}

func removeAt(dir *Place, name string, k kind) error {
	last, err := walkTo(dir, name)
	if err != nil {
		return err
	}
	switch {
	case k == noDirectory && last.plain(syscall.EISDIR) != nil:
		return syscall.EISDIR
	case last.name == "/":
		return syscall.EBUSY
	case last.name == ".":
		return syscall.EINVAL
	case last.name == "..":
		return syscall.ENOTEMPTY
	}
	p, err := last.dir.child(last.name)
	if err != nil {
		return err
	}
	if m, ok := last.dir.node.(Maker); ok && k == onlyDirectory {
		return m.Unmake(last.name)
	}
	full := false
	d, isDir := p.node.(Directory)
	if isDir {
		full = len(d.Names()) > 0 // a bound directory is asked without holding the lock
	}
	switch {
	case k == noDirectory && isDir:
		return syscall.EISDIR
	case (k == onlyDirectory || last.slash) && !isDir:
		return syscall.ENOTDIR
	case full:
		return syscall.ENOTEMPTY
	}
	if r, ok := last.dir.node.(Remover); ok && !isDir {
		return r.Remove(last.name)
	}
	parent, err := last.memory(false)
	if err != nil {
		return err
	}
	if !removable(p.node) {
		return syscall.EPERM
	}
	return parent.remove(last.name, p.node)
}

// remove removes a name if it still refers to n.
//
// Errors: ENOENT, ENOTEMPTY.
func (d *Dir) remove(name string, n Node) error {
	d.fs.mu.Lock()
	defer d.fs.mu.Unlock()
	if d.nodes[name].Node != n {
		return syscall.ENOENT // another goroutine was faster
	}
	if sub, ok := n.(*Dir); ok && len(sub.nodes) > 0 {
		return syscall.ENOTEMPTY
	}
	d.drop(name)
	tell(d.ino, abi.IN_DELETE|ofDirectory(n), 0, name)
	return nil
}
