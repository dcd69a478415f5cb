package vfs

import (
	"io"
	"syscall"

	"sonde/kernel/abi"
	"sonde/kernel/poll"
	"sonde/kernel/refusal"
)

// A Waiter may have to stop waiting.
type Waiter interface {
	// Cancel is called before each wait, which ends when the channel has a token: see poll.Until.
	Cancel() <-chan struct{}
}

// Patient is a Waiter that does not stop.
type Patient struct{}

// Cancel implements Waiter.
func (Patient) Cancel() <-chan struct{} { return nil }

// Read reads from where the last read or write ended. At the end it returns io.EOF. All reads go
// through it, each by one call, so it is the place to probe. If there is nothing to read yet, it
// waits, unless f has O_NONBLOCK or w is nil.
//
// Errors: EAGAIN if there is nothing to read yet; EINTR; EBADF for a file that is not open for
// reading, EISDIR, and those of the node (wrapped with the path).
//
//go:noinline
func Read(f *File, p []byte, w Waiter) (n int, err error) {
	if err := f.usable(O_WRONLY); err != nil {
		return 0, pathError("read", f.name, err)
	}
	if len(p) == 0 {
		return 0, nil
	}
	if !f.stream {
		n, err = f.readNext(p)
	} else if n, err = f.handle.ReadAt(p, 0); err != nil || watching.Load() != 0 {
		n, err = f.wasRead(n, err)
	}
	if err == nil || w == nil {
		return n, err
	}
	return f.readAfter(n, err, p, w)
}

// readAfter is the rest of Read after the first attempt.
func (f *File) readAfter(n int, err error, p []byte, w Waiter) (int, error) {
	for err == syscall.EAGAIN && f.Flags()&O_NONBLOCK == 0 {
		if err = poll.Until(f, poll.In, w.Cancel()); err != nil {
			return 0, err
		}
		if err = f.usable(O_WRONLY); err != nil {
			return 0, pathError("read", f.name, err)
		}
		n, err = f.readOnce(p)
	}
	return n, err
}

// readOnce is what Read does first.
func (f *File) readOnce(p []byte) (int, error) {
	if f.stream {
		return f.wasRead(f.handle.ReadAt(p, 0))
	}
	return f.readNext(p)
}

// readNext reads at the position, and moves it.
func (f *File) readNext(p []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n, err := f.wasRead(f.handle.ReadAt(p, f.off))
	f.off += int64(n)
	return n, err
}

// wasRead reports to watches that bytes were read. It returns io.EOF unwrapped, because readers
// compare it.
func (f *File) wasRead(n int, err error) (int, error) {
	if n > 0 {
		f.happened(abi.IN_ACCESS)
	}
	if err == nil {
		return n, nil
	}
	if err == io.EOF {
		if n > 0 {
			err = nil
		}
		return n, err
	}
	return n, pathError("read", f.name, err)
}

// ErrLimit is the error of writing beyond the limit of WriteWithin and WriteAtWithin.
var ErrLimit = refusal.New(syscall.EFBIG, "file has reached the size limit of its writer")

// WriteWithin is Write that makes a regular file no longer than limit, in bytes.
//
// Errors: as Write; ErrLimit if not one byte may be written.
func (f *File) WriteWithin(p []byte, limit int64) (int, error) {
	r, ok := f.node.(*regular)
	if !ok || len(p) == 0 {
		return Write(f, p, nil)
	}
	r.bounded.Lock()
	defer r.bounded.Unlock()
	at := f.position()
	if f.Flags()&O_APPEND != 0 {
		at = f.size()
	}
	if at >= limit {
		return 0, pathError("write", f.name, ErrLimit)
	}
	return Write(f, p[:min(int64(len(p)), limit-at)], nil)
}

// WriteAtWithin is WriteAt with the limit of WriteWithin.
func (f *File) WriteAtWithin(p []byte, off, limit int64) (int, error) {
	r, ok := f.node.(*regular)
	if !ok || len(p) == 0 || off < 0 {
		return f.WriteAt(p, off)
	}
	r.bounded.Lock()
	defer r.bounded.Unlock()
	if f.Flags()&O_APPEND != 0 {
		off = f.size()
	}
	if off >= limit {
		return 0, pathError("write", f.name, ErrLimit)
	}
	return f.WriteAt(p[:min(int64(len(p)), limit-off)], off)
}

func (f *File) position() int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.off
}

// Unread gives back the last bytes that Read has returned, because the caller could not store them:
// they will be read again. A stream that is not an Unreader loses them.
func (f *File) Unread(p []byte) {
	if u, ok := f.handle.(Unreader); ok {
		u.Unread(p)
	} else if !f.stream {
		f.moveBack(len(p))
	}
}

func (f *File) moveBack(n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.off = max(0, f.off-int64(n))
}

// Write writes where the last read or write ended; a control file takes p as one command. All writes
// go through it, each by one call, so it is the place to probe. It waits until all is written, unless f
// has O_NONBLOCK or w is nil.
//
// Errors: EAGAIN if there is no space now; EINTR; EBADF for a file that is not open for writing, and
// those of the node (wrapped with the path). If it waited and some bytes were written, there is none.
//
//go:noinline
func Write(f *File, p []byte, w Waiter) (n int, err error) {
	if err := f.usable(O_RDONLY); err != nil {
		return 0, pathError("write", f.name, err)
	}
	if f.stream {
		n, err = f.wrote(f.handle.WriteAt(p, 0))
	} else {
		n, err = f.wrote(f.writeNext(p))
	}
	if n == len(p) || w == nil || err != nil && err != syscall.EAGAIN {
		return n, err
	}
	return f.writeAfter(n, err, p, w)
}

// writeAfter is the rest of Write after the first attempt.
func (f *File) writeAfter(done int, err error, p []byte, w Waiter) (int, error) {
	for done < len(p) && f.Flags()&O_NONBLOCK == 0 {
		if err == syscall.EAGAIN {
			err = poll.Until(f, poll.Out, w.Cancel())
		}
		if err == nil {
			err = f.usable(O_RDONLY)
		}
		if err != nil {
			break
		}
		var n int
		if n, err = f.writeOnce(p[done:]); n == 0 && err == nil {
			break // it takes no more bytes
		}
		done += n
	}
	if done > 0 {
		err = nil
	}
	return done, err
}

// writeOnce is what Write does first, without a call of its own there.
func (f *File) writeOnce(p []byte) (int, error) {
	if f.stream {
		return f.wrote(f.handle.WriteAt(p, 0))
	}
	return f.wrote(f.writeNext(p))
}

// writeNext writes at the position or, with O_APPEND, at the end, and moves it.
func (f *File) writeNext(p []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if a, ok := f.handle.(Appender); ok && f.Flags()&O_APPEND != 0 {
		n, end, err := a.Append(p)
		f.off = end
		return n, err
	}
	n, err := f.handle.WriteAt(p, f.off)
	f.off += int64(n)
	return n, err
}

// Read is vfs.Read that waits, for io.Reader.
func (f *File) Read(p []byte) (int, error) { return Read(f, p, Patient{}) }

// Write is vfs.Write that waits, for io.Writer.
func (f *File) Write(p []byte) (int, error) { return Write(f, p, Patient{}) }

// ReadAt reads at off, as pread does, without moving the position. It implements io.ReaderAt: fewer
// bytes than asked for come with an error, which is io.EOF at the end.
//
// Errors: ESPIPE for streams, EINVAL, and as Read.
func (f *File) ReadAt(p []byte, off int64) (done int, err error) {
	if err := f.placed(O_WRONLY, off); err != nil {
		return 0, pathError("read", f.name, err)
	}
	for done < len(p) && err == nil {
		var n int
		n, err = f.handle.ReadAt(p[done:], off+int64(done))
		done += n
	}
	if done > 0 {
		f.happened(abi.IN_ACCESS)
	}
	if err == io.EOF {
		return done, err
	}
	return done, pathError("read", f.name, err)
}

// WriteAt writes at off, as pwrite does, without moving the position. With O_APPEND it writes at
// the end, as in Linux.
//
// Errors: ESPIPE for streams, EINVAL, and as Write.
func (f *File) WriteAt(p []byte, off int64) (int, error) {
	if err := f.placed(O_RDONLY, off); err != nil {
		return 0, pathError("write", f.name, err)
	}
	if a, ok := f.handle.(Appender); ok && f.Flags()&O_APPEND != 0 {
		n, _, err := a.Append(p)
		return f.wrote(n, err)
	}
	return f.wrote(f.handle.WriteAt(p, off))
}

// wrote reports to watches that bytes were written.
func (f *File) wrote(n int, err error) (int, error) {
	if n > 0 {
		f.happened(abi.IN_MODIFY)
	}
	return n, pathError("write", f.name, err)
}

// placed refuses files that cannot be accessed at off.
func (f *File) placed(refused int, off int64) error {
	switch {
	case f.stream && !f.Closed() && f.Flags()&O_PATH == 0:
		return syscall.ESPIPE // regardless of the access mode
	case off < 0:
		return syscall.EINVAL
	}
	return f.usable(refused)
}

// Seek moves the position. In a directory it counts entries. SEEK_DATA and SEEK_HOLE move it to the
// next byte from off on that is in an allocated page, or is not; the end counts as a hole.
//
// Errors: ESPIPE for streams, EINVAL, EBADF; ENXIO from SEEK_DATA and SEEK_HOLE beyond the end or,
// for data, beyond the last of it (wrapped with the path).
func (f *File) Seek(off int64, whence int) (int64, error) {
	switch {
	case f.Closed() || f.Flags()&O_PATH != 0:
		return 0, pathError("seek", f.name, errClosed)
	case f.stream:
		return 0, pathError("seek", f.name, syscall.ESPIPE)
	}
	if _, ok := f.handle.(interface{ placeless() }); ok && whence >= 0 && whence <= abi.SEEK_HOLE {
		return 0, nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	switch whence {
	case io.SeekStart:
	case io.SeekCurrent:
		off += f.off
	case io.SeekEnd:
		off += f.size()
	case abi.SEEK_DATA, abi.SEEK_HOLE:
		var err error
		if off, err = f.seekHole(off, whence == abi.SEEK_HOLE); err != nil {
			return 0, pathError("seek", f.name, err)
		}
	default:
		return 0, pathError("seek", f.name, syscall.EINVAL)
	}
	if off < 0 {
		return 0, pathError("seek", f.name, syscall.EINVAL)
	}
	if off == 0 {
		f.unlist()
	}
	f.off = off
	return off, nil
}

// holder is a node that knows its holes.
type holder interface {
	// next returns the next offset from off on that is in a hole, or in data; -1 if there is no
	// more data.
	next(off int64, hole bool) int64
}

// seekHole returns the offset for SEEK_DATA and SEEK_HOLE. A node that is not a holder is all data
// up to its end.
func (f *File) seekHole(off int64, hole bool) (int64, error) {
	if f.handle == nil {
		return 0, syscall.EINVAL
	}
	size := f.size()
	if off < 0 || off >= size {
		return 0, syscall.ENXIO
	}
	h, ok := f.node.(holder)
	switch {
	case ok:
		off = h.next(off, hole)
	case hole:
		off = size
	}
	if off < 0 {
		return 0, syscall.ENXIO
	}
	return off, nil
}

// size is the offset of the end of f: for a control file, the length of its text.
func (f *File) size() int64 {
	if s, ok := f.handle.(interface{ Size() int64 }); ok {
		return s.Size()
	}
	return f.node.Stat().Size
}
