// Package vfs is the tree of names: directories, files in memory under /tmp,
// and nodes that other packages bind to a name, such as the control files of
// kernel/vfs/ctl.
//
// A Node says what it is; a Directory finds nodes by name; an Opener makes a
// Handle, which moves the bytes. Files are opened, read and written through
// Open, Read, Write and Close. These are plain functions of their own that
// are never inlined, as in Linux, so that one probe on vfs.Read sees each
// read in the kernel. An FS is an fs.FS as well.
//
// There are no owners. The mode bits of the "owner" class are what counts:
// they say how a file may be opened and whether names may be made in a
// directory. Bind and Unbind, for the kernel itself, disregard them.
//
// Rejected: inodes and mount tables. A directory that another package wants
// to bring is a Directory bound to a name; that is all a mount does here.
//
// Locks: Dir.mu and regular.mu, never both, and no function of a bound node
// is called under them.
package vfs

import (
	"io/fs"
	"time"
)

// Node is what a name refers to.
type Node interface {
	Stat() Info
}

// Info is what a node says about itself; its name is the directory's business.
type Info struct {
	Mode    fs.FileMode
	Size    int64
	ModTime time.Time
}

// Directory is a node that holds others.
type Directory interface {
	Node
	// Lookup finds a node by name; errors wrap ENOENT.
	Lookup(name string) (Node, error)
	// Names lists the names in any order.
	Names() []string
}

// Opener is a node that can be read or written. Open is called with flags
// that its mode allows.
type Opener interface {
	Node
	Open(flag int) (Handle, error)
}

// Handle is an open file of an Opener. ReadAt returns io.EOF at the end, as
// io.ReaderAt does, but may return fewer bytes than asked for.
type Handle interface {
	ReadAt(p []byte, off int64) (int, error)
	WriteAt(p []byte, off int64) (int, error)
	Close() error
}
