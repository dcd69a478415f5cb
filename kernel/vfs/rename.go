package vfs

import "syscall"

// RenameAt gives a node another name, in place of what has that name, in one step.
// With noReplace nothing may have it.
//
// Errors: EINVAL into itself, EISDIR, ENOTDIR, ENOTEMPTY, EEXIST, EBUSY, EPERM and
// EACCES where users make no names, ENOENT, ELOOP (wrapped with the path).
func (f *FS) RenameAt(fromDir *Place, from string, toDir *Place, to string, noReplace bool) error {
	return pathError("rename", from, f.rename(fromDir, from, toDir, to, noReplace))
}

func (f *FS) rename(fromDir *Place, from string, toDir *Place, to string, noReplace bool) error {
	old, err := walkTo(fromDir, from)
	if err != nil {
		return err
	}
	new, err := walkTo(toDir, to)
	if err != nil {
		return err
	}
	for _, end := range []*final{&old, &new} {
		if err := end.plain(syscall.EBUSY); err != nil {
			return err
		}
	}
	if _, err := old.dir.child(old.name); err != nil {
		return err
	}
	m := move{old: old.name, new: new.name}
	if m.from, err = old.memory(false); err != nil {
		return err
	}
	if m.to, err = new.memory(false); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := m.check(old.slash || new.slash, noReplace); err != nil {
		return err
	}
	return m.carryOut()
}

// move is a rename between two directories in memory.
type move struct {
	from, to *Dir
	old, new string
}

// check refuses what cannot be moved there. Context: fs.mu held.
func (m *move) check(mustDir, noReplace bool) error {
	n := m.from.nodes[m.old].Node
	dir, isDir := n.(*Dir)
	switch {
	case n == nil || m.to.gone:
		return syscall.ENOENT
	case !removable(n):
		return syscall.EPERM
	case mustDir && !isDir:
		return syscall.ENOTDIR
	case isDir && dir.holds(m.to):
		return syscall.EINVAL
	}
	there := m.to.nodes[m.new].Node
	if there == nil {
		return nil
	}
	thereDir, thereIsDir := there.(*Dir)
	switch {
	case noReplace:
		return syscall.EEXIST
	case there == n:
		return nil
	case !removable(there):
		return syscall.EBUSY
	case isDir && !thereIsDir:
		return syscall.ENOTDIR
	case !isDir && thereIsDir:
		return syscall.EISDIR
	case thereIsDir && len(thereDir.nodes) > 0:
		return syscall.ENOTEMPTY
	}
	return nil
}

// carryOut moves the name. Context: fs.mu held, checked.
func (m *move) carryOut() error {
	n := m.from.nodes[m.old].Node
	if there := m.to.nodes[m.new].Node; there == n {
		return nil // two names of one file stay, as in POSIX
	} else if there != nil {
		m.to.drop(m.new)
	}
	delete(m.from.nodes, m.old)
	m.from.touch()
	n.(inMemory).link(-1)
	if _, ok := n.(*Dir); ok {
		m.from.link(-1)
	}
	return m.to.add(m.new, n)
}
