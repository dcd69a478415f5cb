package vfs

import (
	"syscall"

	"sonde/kernel/abi"
	"sonde/kernel/poll"
)

// entries watches the entries of an open directory, whose owner gets a signal. It implements Watcher.
type entries struct {
	*Watch
	file *File
	fd   int
	once bool
}

// NotifyEntries has f's owner told, from now on and until f is closed, when one of the events in mask happens to an
// entry of the directory that f is: once, or each time. A second call adds events; without any, it ends this. fd is the
// descriptor that the owner is told.
//
// Errors: ENOTDIR; EBADF it is closed.
func (f *File) NotifyEntries(mask uint32, once bool, fd int) error {
	if f.place == nil || !f.node.Stat().Mode.IsDir() {
		return pathError("notify", f.name, syscall.ENOTDIR)
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
		return pathError("notify", f.name, errClosed)
	case mask != 0:
		n.entries = &entries{file: f, fd: fd, once: once}
		n.entries.Watch = f.place.Watch(n.entries, 0)
		n.entries.SetMask(func(uint32) uint32 { return mask & abi.IN_ALL_EVENTS })
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

// Happened implements Watcher. A goroutine of its own tells the owner, because locks are held that sending a signal
// takes.
func (e *entries) Happened(w *Watch, _, _ uint32, name string) {
	if name == "" || e.once && !w.drop() {
		return
	}
	go e.file.tell(e.fd, poll.Msg)
}

// Gone implements Watcher.
func (*entries) Gone(*Watch) {}
