package vfs

import (
	"hash/fnv"
	"strings"
	"syscall"
)

// Place is a node and the path to it: a current directory, or an open directory from which paths
// begin. A Place does not change.
type Place struct {
	fs   *FS
	node Node
	ino  uint64
	up   *Place // the directory; nil for a *Dir, which knows its own
	name string

	viewer  any     // see For
	resolve Resolve // see Bounded
}

// RootPlace returns the place of the tree's root.
func (f *FS) RootPlace() *Place {
	p := f.placeOf(f.root)
	return &p
}

// For returns p as the start of walks by a viewer, on which a Viewed link depends.
func (p *Place) For(viewer any) *Place {
	q := *p
	q.viewer = viewer
	return &q
}

// PlaceOf returns the place of an open file, for a Jumper. A file without a name in the tree, such
// as a pipe, gets a place, too.
func (f *FS) PlaceOf(file *File) Place {
	if file.place != nil {
		return *file.place
	}
	return f.Nameless(file.node, file.name)
}

// Nameless returns a place for a node that is not in the tree, for a Jumper; name is shown for it.
func (f *FS) Nameless(n Node, name string) Place {
	return Place{fs: f, node: n, ino: n.Stat().Ino, up: f.RootPlace(), name: name}
}

// Node returns the node at the place.
func (p *Place) Node() Node { return p.node }

// placeOf returns the place of a directory in memory.
func (f *FS) placeOf(d *Dir) Place { return Place{fs: f, node: d, ino: d.ino} }

// child finds a name in the directory p.
//
// Errors: ENOENT, ENOTDIR, and those of the directory.
func (p *Place) child(name string) (Place, error) {
	if d, ok := p.node.(*Dir); ok {
		e, err := d.entry(name)
		if err != nil {
			return Place{}, err
		}
		if sub, ok := e.Node.(*Dir); ok {
			return p.fs.placeOf(sub), nil
		}
		up := p.fs.placeOf(d)
		return Place{fs: p.fs, node: e.Node, ino: e.ino, up: &up, name: name}, nil
	}
	d, ok := p.node.(Directory)
	if !ok {
		return Place{}, syscall.ENOTDIR
	}
	n, err := d.Lookup(name)
	if err != nil {
		return Place{}, err
	}
	up := *p
	return Place{fs: p.fs, node: n, ino: inoBelow(p.ino, name), up: &up, name: name}, nil
}

// above returns the parent directory of p; the root is its own parent.
func (p *Place) above() Place {
	if d, ok := p.node.(*Dir); ok {
		p.fs.mu.RLock()
		defer p.fs.mu.RUnlock()
		return p.fs.placeOf(d.parent)
	}
	return *p.up
}

// inoBelow makes an inode number for a node that is made on demand: always the same for the same
// name in the same directory, and none that nextIno will ever return.
func inoBelow(dir uint64, name string) uint64 {
	h := fnv.New64a()
	for i := range 8 {
		h.Write([]byte{byte(dir >> (8 * i))})
	}
	h.Write([]byte(name))
	return h.Sum64()>>2 | 1<<62
}

// Path returns the absolute path of p; for directories in memory, the current one.
//
// Errors: ENOENT if a directory of the path has been removed.
func (p *Place) Path() (string, error) {
	if d, ok := p.node.(*Dir); ok {
		p.fs.mu.RLock()
		defer p.fs.mu.RUnlock()
		return d.path()
	}
	above, err := p.up.Path()
	return join(above, p.name), err
}

// Describe returns the path for people and for /proc: with " (deleted)" after it if the name is
// gone or refers to another node.
func (p *Place) Describe() string {
	const deleted = " (deleted)"
	path, err := p.Path()
	switch {
	case err != nil:
		return join("/", strings.TrimPrefix(path, "/")) + deleted
	case p.up == nil:
		return path
	}
	if now, err := p.up.child(p.name); err != nil || now.ino != p.ino {
		return path + deleted
	}
	return path
}

// info returns the node's Info, completed for programs.
func (p *Place) info() Info {
	i := p.node.Stat()
	if i.Ino == 0 {
		i.Ino = p.ino
	}
	i = p.fs.complete(i)
	i.Dev = p.device()
	return i
}

// device is the device of p, or of the nearest directory above it that is in memory, or a mount of its own.
func (p *Place) device() uint64 {
	for ; p != nil; p = p.up {
		switch d := p.node.(type) {
		case *Dir:
			return d.dev
		case Mounted:
			return deviceOf(d.MountPoint())
		}
	}
	return Device
}

// complete fills in the fields that a node leaves zero.
func (f *FS) complete(i Info) Info {
	i.Dev = Device
	if i.Links == 0 {
		i.Links = 1
	}
	if i.ModTime.IsZero() {
		i.ModTime = f.made
	}
	if i.AccTime.IsZero() {
		i.AccTime = i.ModTime
	}
	if i.ChangeTime.IsZero() {
		i.ChangeTime = i.ModTime
	}
	return i
}

// Device is the device number of files in memory, like that of a tmpfs: its major number is 0. The
// numbers of the other mounts follow it.
const Device = 1
