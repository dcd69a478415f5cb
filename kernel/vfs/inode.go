package vfs

import (
	"io/fs"
	"sync"
	"sync/atomic"
	"time"

	"sonde/kernel/lock"
)

// inode is what all nodes in memory have: number, mode, owner, times, links. It implements Changer and Attributed.
type inode struct {
	ino uint64 // does not change

	mu sync.Mutex
	// guarded by mu:
	mode                       fs.FileMode
	moved                      *nameOf // its place after the last rename
	uid, gid                   uint32
	links                      uint64
	accessed, modified, change time.Time
	extended                   xattrs // nil: none
	bare                       bool   // it cannot have any: nothing would remove them
}

// lastIno is the number given out last, for all trees: 1 is a root.
var lastIno atomic.Uint64

func nextIno() uint64 { return lastIno.Add(1) }

// start gives a new inode its number, mode and times.
func (i *inode) start(mode fs.FileMode) {
	now := time.Now()
	i.ino, i.mode = nextIno(), mode
	i.accessed, i.modified, i.change = now, now, now
}

// info returns the fields that the inode has.
func (i *inode) info() Info {
	i.mu.Lock()
	defer i.mu.Unlock()
	return Info{
		Mode: i.mode, Ino: i.ino, Links: i.links, UID: i.uid, GID: i.gid,
		AccTime: i.accessed, ModTime: i.modified, ChangeTime: i.change,
	}
}

// lastName returns moved, for Place.entry.
func (i *inode) lastName() *nameOf { return lock.Get(&i.mu, &i.moved) }

func (i *inode) movedTo(d *Dir, name string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.moved = &nameOf{d, name}
}

// touch records that the contents have changed.
func (i *inode) touch() {
	now := time.Now()
	i.mu.Lock()
	defer i.mu.Unlock()
	i.modified, i.change = now, now
}

// link adds to the number of links and returns it.
func (i *inode) link(n int) uint64 {
	now := time.Now()
	i.mu.Lock()
	defer i.mu.Unlock()
	i.links += uint64(n)
	i.change = now
	return i.links
}

func (i *inode) SetMode(perm fs.FileMode) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.mode = i.mode&^permMask | perm&permMask
	i.change = time.Now()
}

// SetOwner implements Changer. As in Linux, a file loses setuid, and setgid if its group may
// execute it, whoever becomes its owner.
func (i *inode) SetOwner(uid, gid uint32) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if uid != Keep {
		i.uid = uid
	}
	if gid != Keep {
		i.gid = gid
	}
	if !i.mode.IsDir() {
		i.mode &^= fs.ModeSetuid
		if i.mode&groupExec != 0 {
			i.mode &^= fs.ModeSetgid
		}
	}
	i.change = time.Now()
}

// named reports whether the inode has a name. A directory's first link is its own ".".
func (i *inode) named() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.links > 1 || i.links == 1 && !i.mode.IsDir()
}

// strip removes all extended attributes for ever: the node has lost its last name.
func (i *inode) strip() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.extended.give()
	i.extended, i.bare = nil, true
}

// groupExec is a group's permission to execute a file. Without it, setgid meant mandatory locks.
const groupExec = 0o010

// inherit gives a node that is made in the directory d its group, if d is setgid.
func (i *inode) inherit(d *inode) {
	above := d.info()
	if above.Mode&fs.ModeSetgid == 0 {
		return
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.gid = above.GID
	if i.mode.IsDir() {
		i.mode |= fs.ModeSetgid
	}
}

func (i *inode) SetTimes(access, modified time.Time) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if !access.IsZero() {
		i.accessed = access
	}
	if !modified.IsZero() {
		i.modified = modified
	}
	i.change = time.Now()
}

// inMemory is a node of this package, whose links are counted.
type inMemory interface {
	Node
	Changer
	link(n int) uint64
	movedTo(d *Dir, name string)
	named() bool
	inherit(d *inode)
	strip()
}
