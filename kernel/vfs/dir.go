package vfs

import (
	"io/fs"
	"sync"
	"syscall"
	"time"
)

// Dir is a directory in memory.
type Dir struct {
	perm fs.FileMode

	mu sync.RWMutex
	// guarded by mu:
	nodes   map[string]Node
	modTime time.Time
}

func newDir(perm fs.FileMode) *Dir {
	return &Dir{perm: perm, nodes: make(map[string]Node), modTime: time.Now()}
}

// Stat implements Node.
func (d *Dir) Stat() Info {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return Info{Mode: fs.ModeDir | d.perm, ModTime: d.modTime}
}

// Lookup implements Directory.
func (d *Dir) Lookup(name string) (Node, error) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	if n := d.nodes[name]; n != nil {
		return n, nil
	}
	return nil, syscall.ENOENT
}

// Names implements Directory.
func (d *Dir) Names() []string {
	d.mu.RLock()
	defer d.mu.RUnlock()
	names := make([]string, 0, len(d.nodes))
	for name := range d.nodes {
		names = append(names, name)
	}
	return names
}

// writable reports whether names may be made and removed by users.
func (d *Dir) writable() bool { return d.perm&0200 != 0 }

// add puts n under a name that must be free.
func (d *Dir) add(name string, n Node) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.nodes[name] != nil {
		return syscall.EEXIST
	}
	d.nodes[name] = n
	d.modTime = time.Now()
	return nil
}

// findOrAdd returns the node of that name, or else adds the one given.
func (d *Dir) findOrAdd(name string, n Node) Node {
	d.mu.Lock()
	defer d.mu.Unlock()
	if old := d.nodes[name]; old != nil {
		return old
	}
	d.nodes[name] = n
	d.modTime = time.Now()
	return n
}

// remove takes a name away. A directory must be empty; a node that is not
// made by users goes only with force.
func (d *Dir) remove(name string, force bool) error {
	n, err := d.Lookup(name)
	if err != nil {
		return err
	}
	if dir, ok := n.(Directory); ok && len(dir.Names()) > 0 && !force {
		return syscall.ENOTEMPTY
	}
	switch n.(type) {
	case *Dir, *regular:
	default:
		if !force {
			return syscall.EPERM
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.nodes[name] != n {
		return syscall.ENOENT // another goroutine was faster
	}
	delete(d.nodes, name)
	d.modTime = time.Now()
	return nil
}
