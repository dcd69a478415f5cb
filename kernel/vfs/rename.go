package vfs

import (
	"syscall"

	"sonde/kernel/abi"
)

// Renaming says what happens to the node that has the new name already.
type Renaming uint8

const (
	Replace   Renaming = iota
	NoReplace          // the new name must be free
	Exchange           // both names must exist, and change places
)

// RenameAt moves a node to another name in one step.
//
// Errors: EXDEV to another mount, EINVAL into itself, EISDIR, ENOTDIR, ENOTEMPTY, EEXIST, EBUSY,
// EPERM and EACCES where users may not create names, ENOENT, ELOOP (wrapped with the path).
func (f *FS) RenameAt(fromDir *Place, from string, toDir *Place, to string, how Renaming) error {
	return pathError("rename", from, f.rename(fromDir, from, toDir, to, how))
}

func (f *FS) rename(fromDir *Place, from string, toDir *Place, to string, how Renaming) error {
	old, err := walkTo(fromDir, from)
	if err != nil {
		return err
	}
	new, err := walkTo(toDir, to)
	if err != nil {
		return err
	}
	if old.dir.device() != new.dir.device() {
		return syscall.EXDEV
	}
	if err := old.plain(syscall.EBUSY); err != nil {
		return err
	}
	taken := syscall.EBUSY
	if how == NoReplace {
		taken = syscall.EEXIST
	}
	if err := new.plain(taken); err != nil {
		return err
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
	if how == Exchange {
		return m.exchange(old.slash, new.slash)
	}
	if err := m.check(old.slash || new.slash, how == NoReplace); err != nil {
		return err
	}
	return m.carryOut()
}

// move is a rename between two directories in memory.
type move struct {
	from, to *Dir
	old, new string
}

// check refuses a move that is not allowed. Context: fs.mu held.
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

// carryOut moves the name after check. Context: fs.mu held.
func (m *move) carryOut() error {
	n := m.from.nodes[m.old].Node
	there := m.to.nodes[m.new].Node
	if there == n {
		return nil // two names of one file are left alone, as in POSIX
	}
	tellMoved(m.from, m.old, m.to, m.new, n)
	if there != nil {
		m.to.cut(m.new)
		defer evict(there)
	}
	delete(m.from.nodes, m.old)
	m.from.touch()
	n.(inMemory).link(-1)
	if _, ok := n.(*Dir); ok {
		m.from.link(-1)
	}
	n.(inMemory).movedTo(m.to, m.new)
	err := m.to.add(m.new, n)
	tellNode(n, abi.IN_MOVE_SELF)
	return err
}

// tellMoved reports to the watches of both directories that a node has moved.
func tellMoved(from *Dir, old string, to *Dir, new string, n Node) {
	if watching.Load() == 0 {
		return
	}
	if from == to {
		tell(from.ino, RenamedWithin, 0, old)
	}
	cookie := cookies.Add(1)
	tell(from.ino, abi.IN_MOVED_FROM|ofDirectory(n), cookie, old)
	tell(to.ino, abi.IN_MOVED_TO|ofDirectory(n), cookie, new)
}

// exchange swaps the names of two nodes. Context: fs.mu held.
func (m *move) exchange(oldMustDir, newMustDir bool) error {
	a, b := m.from.nodes[m.old], m.to.nodes[m.new]
	aDir, aIsDir := a.Node.(*Dir)
	bDir, bIsDir := b.Node.(*Dir)
	switch {
	case a.Node == nil || b.Node == nil:
		return syscall.ENOENT
	case !removable(a.Node) || !removable(b.Node):
		return syscall.EPERM
	case oldMustDir && !aIsDir, newMustDir && !bIsDir:
		return syscall.ENOTDIR
	case aIsDir && aDir.holds(m.to), bIsDir && bDir.holds(m.from):
		return syscall.EINVAL
	case a.Node == b.Node:
		return nil
	}
	tellMoved(m.from, m.old, m.to, m.new, a.Node)
	tellMoved(m.to, m.new, m.from, m.old, b.Node)
	m.from.nodes[m.old], m.to.nodes[m.new] = b, a
	m.to.moved(m.new, m.from)
	m.from.moved(m.old, m.to)
	return nil
}

// moved updates the node under a name of d that was in the directory before until now.
// Context: fs.mu held.
func (d *Dir) moved(name string, before *Dir) {
	n := d.nodes[name].Node
	if sub, ok := n.(*Dir); ok {
		sub.parent, sub.name = d, name
		d.link(1)
		before.link(-1)
	}
	n.(inMemory).link(0)
	n.(inMemory).movedTo(d, name)
	d.touch()
	tellNode(n, abi.IN_MOVE_SELF)
}
