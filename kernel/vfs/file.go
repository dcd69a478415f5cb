package vfs

import (
	"io"
	"io/fs"
	"os"
	"path"
	"sync/atomic"
	"syscall"
)

// File is an open file or directory. It may be used by several goroutines,
// but reads at the same time get the same bytes.
type File struct {
	name   string
	node   Node
	handle Handle // nil for a directory
	flag   int
	off    atomic.Int64
	closed atomic.Bool

	entries []fs.DirEntry // of a directory, from its first ReadDir on
	listed  bool
}

const accessMask = os.O_RDONLY | os.O_WRONLY | os.O_RDWR

// OpenFile opens the node at a path; flag is as for os.OpenFile. O_CREATE
// makes a file in memory where users may make names.
//
// Errors: ENOENT, ENOTDIR, EACCES, EISDIR, EEXIST, and those of the node
// (wrapped with the path).
func (f *FS) OpenFile(name string, flag int) (*File, error) {
	var n Node
	var err error
	if flag&os.O_CREATE != 0 {
		n, err = f.create(name, flag)
	} else {
		n, err = f.walk(name)
	}
	if err != nil {
		return nil, pathError("open", name, err)
	}
	file := &File{name: name, node: n, flag: flag}
	if file.handle, err = openNode(n, flag); err != nil {
		return nil, pathError("open", name, err)
	}
	return file, nil
}

// openNode checks the access that flag asks for against the mode of n.
func openNode(n Node, flag int) (Handle, error) {
	access, mode := flag&accessMask, n.Stat().Mode
	if mode.IsDir() {
		if access != os.O_RDONLY {
			return nil, syscall.EISDIR
		}
		return nil, nil
	}
	if access != os.O_WRONLY && mode&0400 == 0 || access != os.O_RDONLY && mode&0200 == 0 {
		return nil, syscall.EACCES
	}
	o, ok := n.(Opener)
	if !ok {
		return nil, syscall.ENXIO
	}
	return o.Open(flag)
}

// Read reads from where the last read or write ended. At the end it returns
// io.EOF. It is the only way to the bytes of a file, and the place to probe.
//
// Errors: EBADF for a file that is not open for reading, EISDIR, and those of
// the node (wrapped with the path).
//
//go:noinline
func Read(f *File, p []byte) (int, error) {
	if err := f.usable(os.O_WRONLY); err != nil {
		return 0, pathError("read", f.name, err)
	}
	if len(p) == 0 {
		return 0, nil
	}
	n, err := f.handle.ReadAt(p, f.off.Load())
	f.off.Add(int64(n))
	if err == io.EOF {
		if n > 0 {
			err = nil
		}
		return n, err // bare, as readers compare it
	}
	return n, pathError("read", f.name, err)
}

// Write writes where the last read or write ended; a control file gets p as
// one command.
//
// Errors: EBADF for a file that is not open for writing, and those of the
// node (wrapped with the path).
//
//go:noinline
func Write(f *File, p []byte) (int, error) {
	if err := f.usable(os.O_RDONLY); err != nil {
		return 0, pathError("write", f.name, err)
	}
	n, err := f.handle.WriteAt(p, f.off.Load())
	f.off.Add(int64(n))
	return n, pathError("write", f.name, err)
}

// Close ends the use of f.
//
// Errors: fs.ErrClosed the second time (wrapped with the path).
//
//go:noinline
func Close(f *File) error {
	if f.closed.Swap(true) {
		return pathError("close", f.name, fs.ErrClosed)
	}
	if f.handle == nil {
		return nil
	}
	return pathError("close", f.name, f.handle.Close())
}

// usable refuses closed files, directories, and files opened only for the
// other direction.
func (f *File) usable(refused int) error {
	switch {
	case f.closed.Load():
		return fs.ErrClosed
	case f.handle == nil:
		return syscall.EISDIR
	case f.flag&accessMask == refused:
		return syscall.EBADF
	}
	return nil
}

// Name returns the path that f was opened with.
func (f *File) Name() string { return f.name }

// Read is vfs.Read as a method, for io.Reader.
func (f *File) Read(p []byte) (int, error) { return Read(f, p) }

// Write is vfs.Write as a method, for io.Writer.
func (f *File) Write(p []byte) (int, error) { return Write(f, p) }

// Close is vfs.Close as a method, for io.Closer.
func (f *File) Close() error { return Close(f) }

// Stat implements fs.File.
func (f *File) Stat() (fs.FileInfo, error) {
	return fileInfo{path.Base(f.name), f.node.Stat()}, nil
}

// ReadDir implements fs.ReadDirFile: n > 0 gives the next n entries, else
// all that are left.
//
// Errors: ENOTDIR (wrapped with the path), io.EOF.
func (f *File) ReadDir(n int) ([]fs.DirEntry, error) {
	d, ok := f.node.(Directory)
	if !ok {
		return nil, pathError("readdir", f.name, syscall.ENOTDIR)
	}
	if f.closed.Load() {
		return nil, pathError("readdir", f.name, fs.ErrClosed)
	}
	if !f.listed {
		f.entries, f.listed = list(d), true
	}
	if n <= 0 || n > len(f.entries) {
		if n > 0 && len(f.entries) == 0 {
			return nil, io.EOF
		}
		n = len(f.entries)
	}
	got := f.entries[:n:n]
	f.entries = f.entries[n:]
	return got, nil
}
