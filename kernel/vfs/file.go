package vfs

import (
	"fmt"
	"io/fs"
	"path"
	"sync"
	"sync/atomic"
	"syscall"

	"sonde/kernel/abi"
	"sonde/kernel/poll"
)

// File is an open file or directory, to which descriptors refer. Several goroutines may use it;
// they share the position.
type File struct {
	name   string
	place  *Place // nil for a file without a name: pipes, events
	node   Node
	handle Handle // nil for a directory
	flag   atomic.Int32
	refs   atomic.Int32
	stream bool
	owner  atomic.Bool // of locks, now or before: see Lock and LockRecord
	notice atomic.Pointer[notice]
	leased atomic.Bool // by SetLease

	mu sync.Mutex
	// guarded by mu:
	off     int64
	entries []Dirent // of a directory, from its first read on; see list
	listed  bool
}

// opened counts the files that are open.
var opened atomic.Int64

// Opened returns how many files are open, pipes and the like included.
func Opened() int { return int(opened.Load()) }

// mostListed bounds the entries of all open directories together, which take less than 128 bytes each.
const mostListed = 256 << 10

// listed counts them.
var listed atomic.Int64

// errClosed is what operations on a closed file return: the error of io/fs and that of programs.
var errClosed = fmt.Errorf("%w: %w", fs.ErrClosed, syscall.EBADF)

// NewFile opens a node that has no name in the tree.
func NewFile(name string, n Node, h Handle, flag int) *File {
	f := &File{name: name, node: n, handle: h}
	f.flag.Store(int32(flag))
	f.refs.Store(1)
	_, f.stream = h.(interface{ stream() })
	opened.Add(1)
	return f
}

// Name returns the path that f was opened with.
func (f *File) Name() string { return f.name }

// Place returns where f is; nil if it has no name.
func (f *File) Place() *Place { return f.place }

// Node returns the node that f was opened from.
func (f *File) Node() Node { return f.node }

// Handle returns the handle that reads and writes the bytes, for operations that only some kinds of
// files have; nil for a directory.
func (f *File) Handle() Handle { return f.handle }

// Flags returns the access mode and the flags that stay with an open file.
func (f *File) Flags() int { return int(f.flag.Load()) }

// IsRegular reports whether f is a file in memory.
func (f *File) IsRegular() bool {
	_, ok := f.node.(*regular)
	return ok
}

// IsStream reports whether the bytes of f have no position.
func (f *File) IsStream() bool { return f.stream }

// SetFlags changes O_APPEND and O_NONBLOCK.
func (f *File) SetFlags(flag int) {
	for {
		if old := f.flag.Load(); f.flag.CompareAndSwap(old, old&^settable|int32(flag)&settable) {
			return
		}
	}
}

// Hold adds a descriptor that refers to f. Each Hold is ended by a Close.
func (f *File) Hold() { f.refs.Add(1) }

// Uses returns how many uses of f no Close has ended yet.
func (f *File) Uses() int { return int(f.refs.Load()) }

// Closed reports whether the last Close has happened.
func (f *File) Closed() bool { return f.refs.Load() <= 0 }

// Close ends one use of f; the last Close closes the file.
//
// Errors: fs.ErrClosed and EBADF if there is no use left (wrapped with the path).
//
//go:noinline
func Close(f *File) error {
	switch n := f.refs.Add(-1); {
	case n > 0:
		if s, ok := f.handle.(Shared); ok {
			s.LetGo()
		}
		return nil
	case n < 0:
		f.refs.Add(1)
		return pathError("close", f.name, errClosed)
	}
	opened.Add(-1)
	f.Unlock()
	if f.notice.Load() != nil {
		f.listen(false, 0)
		f.unwatchEntries()
	}
	f.dropLease()
	if f.owner.Load() {
		f.DropRecords(f)
	}
	f.closed()
	if f.handle == nil {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.unlist()
		return nil
	}
	return pathError("close", f.name, f.handle.Close())
}

// unlist forgets what list has filled in: the directory is read again. Context: mu held.
func (f *File) unlist() {
	listed.Add(-int64(len(f.entries)))
	f.entries, f.listed = nil, false
}

// closed reports to watches that the last use of f has ended.
func (f *File) closed() {
	switch flag := f.Flags(); {
	case flag&O_PATH != 0:
	case flag&accessMask != O_RDONLY:
		f.happened(abi.IN_CLOSE_WRITE)
	default:
		f.happened(abi.IN_CLOSE_NOWRITE)
	}
}

// Close is vfs.Close as a method, for io.Closer.
func (f *File) Close() error { return Close(f) }

// usable refuses closed files, directories, and files opened only for the
// other direction.
func (f *File) usable(refused int) error {
	flag := f.Flags()
	switch {
	case f.Closed():
		return errClosed
	case flag&O_PATH != 0:
		return syscall.EBADF
	case f.handle == nil && refused == O_WRONLY:
		return syscall.EISDIR
	case f.handle == nil || flag&accessMask == refused:
		return syscall.EBADF
	}
	return nil
}

// Stat implements fs.File.
func (f *File) Stat() (fs.FileInfo, error) {
	return fileInfo{path.Base(f.name), f.node.Stat()}, nil
}

// Info describes f, completed for programs.
func (f *File) Info() Info {
	if f.place != nil {
		return f.place.info()
	}
	return Root.complete(f.node.Stat())
}

// Truncate sets the size of the file.
//
// Errors: EINVAL if it has no size that can be set, EFBIG; EBADF if f is not open for writing.
func (f *File) Truncate(size int64) error {
	err := f.usable(O_RDONLY)
	if err == nil {
		err = setSize(f.node, size)
	}
	if err == nil {
		f.happened(abi.IN_MODIFY)
	}
	return pathError("truncate", f.name, err)
}

// Extend makes the file at least that long.
//
// Errors: as Truncate.
func (f *File) Extend(size int64) error {
	r, ok := f.node.(*regular)
	switch err := f.usable(O_RDONLY); {
	case err != nil:
		return pathError("extend", f.name, err)
	case !ok:
		return pathError("extend", f.name, syscall.EINVAL)
	case size > MaxFile:
		return pathError("extend", f.name, syscall.EFBIG)
	}
	r.extend(size)
	f.happened(abi.IN_MODIFY)
	return nil
}

// Poll implements poll.Source. A file that cannot be waited for is always ready.
func (f *File) Poll() poll.Events {
	if s, ok := f.handle.(poll.Source); ok {
		return s.Poll()
	}
	return poll.In | poll.Out
}

// never is the queue of files that are always ready.
var never poll.Queue

// Queue implements poll.Source.
func (f *File) Queue() *poll.Queue {
	if s, ok := f.handle.(poll.Source); ok {
		return s.Queue()
	}
	return &never
}

// happened is Place.happened for an open file.
func (f *File) happened(what uint32) {
	if watching.Load() != 0 && f.place != nil {
		f.place.happened(what)
	}
}
