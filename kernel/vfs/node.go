package vfs

import (
	"io"
	"io/fs"
	"syscall"
	"time"

	"sonde/kernel/mm/backing"
)

// Node is a file, directory or link in the tree.
type Node interface {
	Stat() Info
}

// Info describes a node; its name is in the directory, not here. Fields that are zero are filled in
// for programs (File.Info, FS.StatAt).
type Info struct {
	Mode       fs.FileMode
	Size       int64 // bytes
	ModTime    time.Time
	AccTime    time.Time
	ChangeTime time.Time // of anything in Info
	Ino        uint64
	Dev, RDev  uint64 // the device it is on, and the device that it is: see MakeDev
	Links      uint64
	Blocks     int64 // of 512 bytes
	UID, GID   uint32
}

// Directory is a node that holds other nodes.
type Directory interface {
	Node
	// Lookup finds a node by name; errors wrap ENOENT.
	Lookup(name string) (Node, error)
	// Names lists the names in any order.
	Names() []string
}

// Remover is a directory of the kernel whose entries users may remove, as pinned programs: the entry is
// no directory.
type Remover interface {
	Directory
	// Remove removes an entry. Errors: ENOENT, EBUSY.
	Remove(name string) error
}

// Maker is a directory of the kernel in which users may make directories, and remove those with all that is in them,
// as instances of tracefs.
type Maker interface {
	Directory
	// Make makes a directory whose name is free. Errors: EINVAL, ENOMEM.
	Make(name string) error
	// Unmake removes one. Errors: ENOENT, EBUSY.
	Unmake(name string) error
}

// Mounted is a directory of the kernel's making that is a file system of its own.
type Mounted interface {
	Directory
	// MountPoint is where it is, as Mounts has it.
	MountPoint() string
}

// Link is a symbolic link.
type Link interface {
	Node
	// Target returns the path that replaces the link's name.
	Target() (string, error)
}

// Viewed is a link whose target depends on the caller, such as /proc/self. viewer is the value
// given to Place.For, nil for the kernel.
type Viewed interface {
	Link
	TargetFor(viewer any) (string, error)
}

// Jumper is a link that leads to a place without a path, such as /proc/1/fd/0. Its Target is shown
// to people only.
type Jumper interface {
	Link
	Jump() (Place, error)
}

// Magic is a link that has a path here, but on Linux refers to a node directly. A walk can refuse
// to follow such links.
type Magic interface {
	Link
	Magic()
}

// Sizer is a node whose size can be set.
type Sizer interface {
	SetSize(size int64) error
}

// Changer is a node whose attributes can be changed.
type Changer interface {
	SetMode(perm fs.FileMode)            // permissions, setuid, setgid and sticky
	SetOwner(uid, gid uint32)            // Keep: unchanged
	SetTimes(access, modified time.Time) // zero: unchanged
}

// Keep, for SetOwner, leaves an owner or group as it is.
const Keep = ^uint32(0)

// ViewedOpener is an Opener that opens something else for a viewer than for the kernel.
type ViewedOpener interface {
	Opener
	OpenFor(viewer any, flag int) (Handle, error)
}

// Opener is a node that can be read or written. Open gets only flags that its mode allows.
type Opener interface {
	Node
	Open(flag int) (Handle, error)
}

// Handle is an open file of an Opener. ReadAt returns io.EOF at the end, as io.ReaderAt does, but
// may return fewer bytes than asked for. ReadAt and WriteAt wait for locks only: if the file is not
// ready they return EAGAIN, and the handle is a poll.Source.
type Handle interface {
	ReadAt(p []byte, off int64) (int, error)
	WriteAt(p []byte, off int64) (int, error)
	Close() error
}

// Stream is embedded in a Handle whose bytes have no position: pipes, terminals. It ignores
// offsets, and seeking returns ESPIPE.
type Stream struct{}

func (Stream) stream() {}

// NoBytes is embedded in a Handle that one waits for, or that stands for something: it has nothing to
// read or write.
type NoBytes struct{ Stream }

// ReadAt and WriteAt implement Handle. Errors: EINVAL.
func (NoBytes) ReadAt([]byte, int64) (int, error)  { return 0, syscall.EINVAL }
func (NoBytes) WriteAt([]byte, int64) (int, error) { return 0, syscall.EINVAL }

// Close implements Handle.
func (NoBytes) Close() error { return nil }

// Shared is a Handle that is told about each Close except the last.
type Shared interface{ LetGo() }

// Placeless is embedded in a Handle whose bytes are the same at each position: seeking leads to 0,
// as in Linux's /dev/null.
type Placeless struct{}

func (Placeless) placeless() {}

// Appender is a Handle that can write at its end in one step, for O_APPEND. It also returns the new
// end.
type Appender interface {
	Append(p []byte) (n int, end int64, err error)
}

// Describer is a Handle that adds lines to /proc/PID/fdinfo, in Linux's format.
type Describer interface {
	Describe(w io.Writer)
}

// Zeroes is a Handle whose mappings are anonymous memory.
type Zeroes interface {
	MapsZeroes()
}

// Mapped is a Handle whose bytes programs can map.
type Mapped interface {
	// Map returns the pages for a mapping of n bytes at an offset, which is shared or private, and will be
	// written to or not. They are held for the caller, who drops them. later says that it may be written to by a
	// later mprotect. Errors: EINVAL, EPERM, EACCES.
	Map(off, n uint64, shared, write bool) (s backing.Store, later bool, err error)
}

// Unreader is a Handle of a stream that takes back the last bytes that a reader got.
type Unreader interface {
	Unread(p []byte)
}
