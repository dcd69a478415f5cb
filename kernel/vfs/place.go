package vfs

import (
	"hash/fnv"
	"strings"
	"syscall"
)

// Place is a node and the way to it: what a current directory is, and what an
// open directory stands for in a path. A Place does not change.
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

// For returns p as the begin of walks by a viewer, on which a Viewed link depends.
func (p *Place) For(viewer any) *Place {
	q := *p
	q.viewer = viewer
	return &q
}

// PlaceOf returns where an open file is, for a Jumper. What has no name in the tree,
// a pipe, gets a place that leads to it all the same.
func (f *FS) PlaceOf(file *File) Place {
	if file.place != nil {
		return *file.place
	}
	return Place{fs: f, node: file.node, ino: file.node.Stat().Ino, up: f.RootPlace(), name: file.name}
}

// Node returns what is there.
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

// above returns the directory that p is in; the root's is the root.
func (p *Place) above() Place {
	if d, ok := p.node.(*Dir); ok {
		p.fs.mu.RLock()
		defer p.fs.mu.RUnlock()
		return p.fs.placeOf(d.parent)
	}
	return *p.up
}

// inoBelow makes a number for a node that is made on demand: always the same for
// the same name in the same directory, and none that nextIno will ever give.
func inoBelow(dir uint64, name string) uint64 {
	h := fnv.New64a()
	for i := range 8 {
		h.Write([]byte{byte(dir >> (8 * i))})
	}
	h.Write([]byte(name))
	return h.Sum64()>>2 | 1<<62
}

// Path returns the absolute path of p, as it is now for directories in memory.
//
// Errors: ENOENT when a directory on the way has been removed.
func (p *Place) Path() (string, error) {
	if d, ok := p.node.(*Dir); ok {
		p.fs.mu.RLock()
		defer p.fs.mu.RUnlock()
		return d.path()
	}
	above, err := p.up.Path()
	return join(above, p.name), err
}

// Describe returns the path for people and for /proc: with " (deleted)" behind
// it when the name has gone or refers to something else.
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

// info returns what the node says, completed for programs.
func (p *Place) info() Info {
	i := p.node.Stat()
	if i.Ino == 0 {
		i.Ino = p.ino
	}
	i = p.fs.complete(i)
	i.Dev = p.device()
	return i
}

// device is that of the directory in memory that p is, or is below.
func (p *Place) device() uint64 {
	for ; p != nil; p = p.up {
		if d, ok := p.node.(*Dir); ok {
			return d.dev
		}
	}
	return Device
}

// complete fills in what a node has left open.
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

// Device is the device that files in memory are on, as a tmpfs has one: its major number
// is 0. Those of the other mounts come behind it.
const Device = 1
