package vfs

import (
	"io/fs"
	"maps"
	"slices"
	"strings"
	"syscall"

	"sonde/kernel/abi"
)

// Dir is a directory in memory.
type Dir struct {
	inode
	fs     *FS
	sealed bool // made by the kernel: users cannot create names in it
	dev    uint64

	// guarded by fs.mu:
	nodes  map[string]entry
	parent *Dir // the root is its own parent
	name   string
	gone   bool      // removed: nothing can be created in it
	more   Directory // further names, made on demand; see Extend
}

// entry is the node of a name, and the inode number if the node itself has none.
type entry struct {
	Node
	ino uint64
}

func (f *FS) newDir(perm fs.FileMode) *Dir {
	d := &Dir{fs: f, nodes: make(map[string]entry), dev: Device}
	d.start(fs.ModeDir | perm)
	d.links = 1 // its own "."
	return d
}

// Stat implements Node.
func (d *Dir) Stat() Info { return d.info() }

// Lookup implements Directory.
func (d *Dir) Lookup(name string) (Node, error) {
	e, err := d.entry(name)
	return e.Node, err
}

func (d *Dir) entry(name string) (entry, error) {
	e, ok, more := d.own(name)
	if ok {
		return e, nil
	}
	if more == nil {
		return entry{}, syscall.ENOENT
	}
	n, err := more.Lookup(name)
	return entry{n, inoBelow(d.ino, name)}, err
}

// own looks a name up in d itself; more is the directory to ask for other names.
func (d *Dir) own(name string) (e entry, ok bool, more Directory) {
	d.fs.mu.RLock()
	defer d.fs.mu.RUnlock()
	e, ok = d.nodes[name]
	return e, ok, d.more
}

// Names implements Directory.
func (d *Dir) Names() []string {
	names, more := d.ownNames()
	if more != nil {
		names = append(names, more.Names()...)
	}
	return names
}

func (d *Dir) ownNames() (names []string, more Directory) {
	d.fs.mu.RLock()
	defer d.fs.mu.RUnlock()
	return slices.Collect(maps.Keys(d.nodes)), d.more
}

// Extend adds names that are made on demand to a directory in memory: the processes to /proc. The
// directory's own names come first.
//
// Errors: ENOTDIR, and as StatAt (wrapped with the path).
func (f *FS) Extend(name string, more Directory) error {
	p, err := f.place(name, true)
	if err != nil {
		return pathError("extend", name, err)
	}
	d, ok := p.node.(*Dir)
	if !ok {
		return pathError("extend", name, syscall.ENOTDIR)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	d.more = more
	return nil
}

// addNew is add for a name that a program makes. It counts as a page: a node in memory may need
// that much with its tables.
//
// Context: fs.mu held.
// Errors: ENOENT, EEXIST, ENOSPC.
func (d *Dir) addNew(name string, n Node) error {
	if err := d.fs.take(1); err != nil {
		return err
	}
	if m, ok := n.(inMemory); ok && !m.named() {
		m.inherit(&d.inode)
	}
	err := d.add(name, n)
	if err != nil {
		d.fs.give(1)
	}
	return err
}

// add gives n a name that must be free. Context: fs.mu held.
func (d *Dir) add(name string, n Node) error {
	switch {
	case d.gone:
		return syscall.ENOENT
	case d.nodes[name].Node != nil:
		return syscall.EEXIST
	}
	e := entry{Node: n}
	if m, ok := n.(inMemory); ok {
		m.link(1)
		e.ino = n.Stat().Ino
	} else {
		e.ino = nextIno()
	}
	if sub, ok := n.(*Dir); ok {
		sub.parent, sub.name = d, name
		d.link(1) // its ".."
	}
	d.nodes[name] = e
	d.touch()
	return nil
}

// drop removes an existing name. Context: fs.mu held.
func (d *Dir) drop(name string) { evict(d.cut(name)) }

// cut removes a name, and returns its node, which may have lost its last name.
// Context: fs.mu held.
func (d *Dir) cut(name string) Node {
	n := d.nodes[name].Node
	delete(d.nodes, name)
	d.touch()
	if m, ok := n.(inMemory); ok {
		m.link(-1)
		d.fs.give(1)
	}
	if sub, ok := n.(*Dir); ok {
		sub.gone = true
		d.link(-1)
	} else if removable(n) {
		tellNode(n, abi.IN_ATTRIB)
	}
	return n
}

// evict frees a node that has no names left. Context: fs.mu held.
func evict(n Node) {
	switch n := n.(type) {
	case *regular:
		n.evict()
	case *Dir:
		n.strip()
		ended(n.ino)
	case inMemory:
		if n.Stat().Links == 0 {
			n.strip()
			ended(n.Stat().Ino)
		}
	}
}

// removable reports whether users may remove what a name refers to.
func removable(n Node) bool {
	_, ok := n.(inMemory)
	return ok
}

// holds reports whether sub is d or lies below it. Context: fs.mu held.
func (d *Dir) holds(sub *Dir) bool {
	for sub != d {
		if sub.parent == sub {
			return false
		}
		sub = sub.parent
	}
	return true
}

// path returns the absolute path; if a directory of it has been removed, what is below that.
// Directories can be thousands deep. Context: fs.mu held.
//
// Errors: ENOENT if a directory has been removed.
func (d *Dir) path() (string, error) {
	var names []string
	at := d
	for ; !at.gone && at.parent != at; at = at.parent {
		names = append(names, at.name)
	}
	slices.Reverse(names)
	path := "/" + strings.Join(names, "/")
	switch {
	case !at.gone:
		return path, nil
	case at == d:
		return "", syscall.ENOENT
	}
	return path, syscall.ENOENT
}

func join(dir, name string) string {
	if dir == "/" {
		return "/" + name
	}
	return dir + "/" + name
}
