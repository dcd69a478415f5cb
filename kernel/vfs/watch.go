package vfs

import (
	"slices"
	"sync"
	"sync/atomic"
	"syscall"

	"sonde/kernel/abi"
	"sonde/kernel/lock"
	"sonde/kernel/poll"
)

// Watches, for inotify. What programs do with files and names is reported to the watches of the
// node and of the directory that contains it. Names that the kernel itself makes (Bind, MkdirAll)
// are not reported.
//
// Locks: FS.mu > watches.mu > locks that a Watcher takes; FS.mu > locks that an Owner takes.

// RenamedWithin is an event of a directory for NotifyEntries: an entry has got another name in the same directory.
// Inotify has no such event.
const RenamedWithin = 1 << 12

// someEvents are the events that a watch's mask can have.
const someEvents = abi.IN_ALL_EVENTS | RenamedWithin

// Watcher is told what happens to a node. Its methods neither block nor use this package.
type Watcher interface {
	// Happened is called for an event that the watch's mask includes. name is the name of an entry,
	// or "" for the node itself; both halves of a rename have the same cookie.
	Happened(w *Watch, what, cookie uint32, name string)
	// Gone is called when the watch has ended: the node is gone, or IN_ONESHOT has had its event.
	Gone(w *Watch)
}

// Watch is a node and its watcher.
type Watch struct {
	Ino, Dev uint64
	to       Watcher
	mask     uint32 // guarded by watches.mu: IN_* with IN_ONESHOT and IN_EXCL_UNLINK
}

var watches struct {
	mu sync.Mutex
	// guarded by mu:
	by   map[uint64][]*Watch // by inode number, which is unique over all trees
	owed []*entries          // whose owners tell tells
}

// watching counts the watches, so that an event without watches costs one load.
var watching atomic.Int32

// cookies is the cookie of the last rename.
var cookies atomic.Uint32

// Ino returns the inode number of the node at p.
func (p *Place) Ino() uint64 { return p.info().Ino }

// Watch makes a watch of the node at p.
func (p *Place) Watch(to Watcher, mask uint32) *Watch {
	i := p.info()
	w := &Watch{Ino: i.Ino, Dev: i.Dev, to: to, mask: mask}
	watches.mu.Lock()
	defer watches.mu.Unlock()
	if watches.by == nil {
		watches.by = map[uint64][]*Watch{}
	}
	watches.by[w.Ino] = append(watches.by[w.Ino], w)
	watching.Add(1)
	return w
}

// SetMask changes which events w reports: change returns the new mask for the old one.
func (w *Watch) SetMask(change func(uint32) uint32) {
	watches.mu.Lock()
	defer watches.mu.Unlock()
	w.mask = change(w.mask)
}

// Mask returns which events w reports.
func (w *Watch) Mask() uint32 { return lock.Get(&watches.mu, &w.mask) }

// Drop ends w, and reports whether it still existed. Gone is not called.
func (w *Watch) Drop() bool {
	watches.mu.Lock()
	defer watches.mu.Unlock()
	return w.drop()
}

// drop is Drop with mu held.
func (w *Watch) drop() bool {
	all := watches.by[w.Ino]
	i := slices.Index(all, w)
	if i < 0 {
		return false
	}
	watching.Add(-1)
	if len(all) == 1 {
		delete(watches.by, w.Ino)
	} else {
		watches.by[w.Ino] = slices.Delete(slices.Clone(all), i, i+1)
	}
	return true
}

// tell tells the watches of a node.
func tell(ino uint64, what, cookie uint32, name string) {
	if watching.Load() == 0 {
		return
	}
	for _, e := range tellWatches(ino, what, cookie, name) {
		e.file.tell(e.fd, poll.Msg)
	}
}

// tellWatches is tell, and returns whose owners are to be told without mu: to send a signal takes locks of those who
// watch.
func tellWatches(ino uint64, what, cookie uint32, name string) (owed []*entries) {
	watches.mu.Lock()
	defer watches.mu.Unlock()
	tellAll(ino, what, cookie, name)
	owed, watches.owed = watches.owed, nil
	return owed
}

// tellNode is tell of a node itself.
func tellNode(n Node, what uint32) {
	if watching.Load() != 0 {
		tell(n.Stat().Ino, what, 0, "")
	}
}

// unlinked marks an event of a file that has lost the name by which it was opened.
const unlinked = 1 << 31

// tellAll is tell with mu held.
func tellAll(ino uint64, what, cookie uint32, name string) {
	gone := what&unlinked != 0
	what &^= unlinked
	for _, w := range watches.by[ino] {
		if w.mask&what&someEvents == 0 || gone && w.mask&abi.IN_EXCL_UNLINK != 0 {
			continue
		}
		w.to.Happened(w, what, cookie, name)
		if w.mask&abi.IN_ONESHOT != 0 && w.drop() {
			w.to.Gone(w)
		}
	}
}

// ended ends the watches of a node that can no longer be reached, and tells them so.
func ended(ino uint64) {
	if watching.Load() == 0 {
		return
	}
	watches.mu.Lock()
	defer watches.mu.Unlock()
	tellAll(ino, abi.IN_DELETE_SELF, 0, "")
	for _, w := range watches.by[ino] {
		watching.Add(-1)
		w.to.Gone(w)
	}
	delete(watches.by, ino)
}

// happened reports an event of the node at p: first to the watches of its directory, then to its
// own.
func (p *Place) happened(what uint32) {
	if watching.Load() == 0 || p.fs == nil || what == 0 {
		return
	}
	what |= ofDirectory(p.node)
	if up, name, now := p.entry(); up != 0 && now {
		tell(up, what, 0, name)
	} else if up != 0 {
		tell(up, what|unlinked, 0, name)
	}
	tell(p.Ino(), what, 0, "")
}

// ofDirectory returns IN_ISDIR for a directory.
func ofDirectory(n Node) uint32 {
	if _, ok := n.(Directory); ok {
		return abi.IN_ISDIR
	}
	return 0
}

// nameOf is the place of a node after its last rename.
type nameOf struct {
	dir  *Dir
	name string
}

// entry returns the inode number of the directory that contains p, 0 for a root, and its name
// there. If p has been renamed since it was found, these are the new ones; now is false if it has
// been removed.
func (p *Place) entry() (up uint64, name string, now bool) {
	p.fs.mu.RLock()
	defer p.fs.mu.RUnlock()
	if d, ok := p.node.(*Dir); ok {
		if d.parent == d {
			return 0, "", false
		}
		return d.parent.ino, d.name, true
	}
	above, ok := p.up.node.(*Dir)
	if !ok {
		return p.up.ino, p.name, true
	}
	if above.nodes[p.name].Node == p.node {
		return above.ino, p.name, true
	}
	if r, ok := p.node.(interface{ lastName() *nameOf }); ok {
		if at := r.lastName(); at != nil {
			return at.dir.ino, at.name, at.dir.nodes[at.name].Node == p.node
		}
	}
	return above.ino, p.name, false
}

// entries watches an open directory and its entries: the file's owner gets a signal. It implements Watcher.
type entries struct {
	*Watch
	file *File
	fd   int
	once bool
}

// NotifyEntries has f's owner told, from now on and until f is closed, when one of the events in mask happens to the
// directory that f is or to an entry of it: once, or each time. The owner has been told when the call that causes the
// event returns. A second call adds events; without any, it ends this. fd is the descriptor that the owner is told.
//
// Errors: ENOTDIR; EBADF it is closed.
func (f *File) NotifyEntries(mask uint32, once bool, fd int) error {
	if f.place == nil || !f.node.Stat().Mode.IsDir() {
		return syscall.ENOTDIR
	}
	n := f.noticeOf()
	n.mu.Lock()
	defer n.mu.Unlock()
	if old := n.entries; old != nil && old.Drop() && mask != 0 {
		mask |= old.Mask()
	}
	n.entries = nil
	switch {
	case f.Closed():
		return errClosed
	case mask != 0:
		n.entries = &entries{file: f, fd: fd, once: once}
		n.entries.Watch = f.place.Watch(n.entries, 0)
		n.entries.SetMask(func(uint32) uint32 { return mask & someEvents })
	}
	return nil
}

// unwatchEntries ends what NotifyEntries has begun.
func (f *File) unwatchEntries() {
	n := f.noticeOf()
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.entries != nil {
		n.entries.Drop()
	}
}

func (e *entries) Happened(w *Watch, _, _ uint32, _ string) {
	if !e.once || w.drop() {
		watches.owed = append(watches.owed, e)
	}
}

func (*entries) Gone(*Watch) {}
