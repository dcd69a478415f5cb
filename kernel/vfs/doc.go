// Package vfs is the tree of names and the files behind them: directories, files and
// symbolic links in memory, and nodes that other packages bind to a name, such as the
// control files of kernel/vfs/ctl.
//
// A Node describes itself; a Directory finds nodes by name; an Opener makes a Handle, which
// moves the bytes. A File is an open file: what descriptors refer to, with its position and
// flags. A Place is a node and the path to it, for current directories and paths relative
// to one.
//
// The kernel and programs open, read and write files through Open, Read, Write and Close.
// These are plain functions that are never inlined, as in Linux, so that one probe on
// vfs.Read sees each read in the kernel. None of them waits: they return EAGAIN for what is
// not there yet, and File.ReadWait tries again when kernel/poll says so. An FS is also an
// fs.FS.
//
// Programs run as root, so the mode of what is in memory is kept and shown, but forbids
// nothing. The mode of a bound node counts: its "owner" bits say how it may be opened. A
// directory that the kernel made without write permission is sealed: only Bind and Unbind
// change its contents.
//
// Rejected: mount tables. A directory from another package is a Directory bound to a name;
// that is all a mount does here. /proc/mounts shows a fixed list of such parts. Rejected: a
// lock per directory. Renames need several at a time, in an order; one lock for all names,
// held for a map access, is simpler and fast enough.
//
// Locks: File.mu > FS.mu > inode.mu; regular.bounded > File.mu > regular.data. No function of a
// bound node is called under FS.mu.
package vfs

import (
	"io"
	"io/fs"
	"time"
)

// Node is what a name refers to.
type Node interface {
	Stat() Info
}

// Info is what a node says about itself; its name is the directory's business.
// What is zero is filled in where programs ask (File.Info, FS.StatAt).
type Info struct {
	Mode       fs.FileMode
	Size       int64 // bytes
	ModTime    time.Time
	AccTime    time.Time
	ChangeTime time.Time // of anything in Info
	Ino        uint64
	Dev, RDev  uint64 // the device it is on, the device it is: see MakeDev
	Links      uint64
	Blocks     int64 // of 512 bytes
	UID, GID   uint32
}

// Directory is a node that holds others.
type Directory interface {
	Node
	// Lookup finds a node by name; errors wrap ENOENT.
	Lookup(name string) (Node, error)
	// Names lists the names in any order.
	Names() []string
}

// Link is a symbolic link.
type Link interface {
	Node
	// Target returns the path that replaces the link's name.
	Target() (string, error)
}

// Viewed is a link whose target depends on the caller: /proc/self. viewer is
// what Place.For was given, nil for the kernel.
type Viewed interface {
	Link
	TargetFor(viewer any) (string, error)
}

// Jumper is a link that leads to a place without a path: /proc/1/fd/0. Its Target
// is for people.
type Jumper interface {
	Link
	Jump() (Place, error)
}

// Magic is a link that has a path here, and on Linux stands for what is there whatever its path:
// walks can be kept from following those.
type Magic interface {
	Link
	Magic()
}

// Opener is a node that can be read or written. Open is called with flags
// that its mode allows.
type Opener interface {
	Node
	Open(flag int) (Handle, error)
}

// Handle is an open file of an Opener. ReadAt returns io.EOF at the end, as
// io.ReaderAt does, but may return fewer bytes than asked for. Neither it nor
// WriteAt waits for anything but locks: they return EAGAIN, and the handle is
// a poll.Source.
type Handle interface {
	ReadAt(p []byte, off int64) (int, error)
	WriteAt(p []byte, off int64) (int, error)
	Close() error
}

// Stream is embedded in a Handle whose bytes have no places: pipes, terminals.
// Its offsets are meaningless, and seeking is ESPIPE.
type Stream struct{}

func (Stream) stream() {}

// Shared is a Handle that wants to hear of each Close but the last.
type Shared interface{ LetGo() }

// Placeless is embedded in a Handle whose bytes are alike wherever they are: seeking
// leads to 0, as in Linux's /dev/null.
type Placeless struct{}

func (Placeless) placeless() {}

// Appender is a Handle that can write at its end in one step, for O_APPEND. It
// returns the new end as well.
type Appender interface {
	Append(p []byte) (n int, end int64, err error)
}

// Describer is a Handle that has more to say about itself in /proc/PID/fdinfo: lines
// in Linux's format.
type Describer interface {
	Describe(w io.Writer)
}

// Zeroes is a Handle that is mapped as memory without a file is.
type Zeroes interface {
	MapsZeroes()
}

// Unreader is a Handle of a stream that takes back the last bytes it gave to a reader.
type Unreader interface {
	Unread(p []byte)
}

// Sizer is a node whose size can be set.
type Sizer interface {
	SetSize(size int64) error
}

// Changer is a node whose attributes can be changed.
type Changer interface {
	SetMode(perm fs.FileMode)            // permissions, setuid, setgid and sticky
	SetOwner(uid, gid uint32)            // Keep: as it is
	SetTimes(access, modified time.Time) // zero: as it is
}

// Keep, for SetOwner, leaves an owner or group as it is.
const Keep = ^uint32(0)
