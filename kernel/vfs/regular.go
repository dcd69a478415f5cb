package vfs

import (
	"io"
	"io/fs"
	"sync"
	"sync/atomic"
	"syscall"

	"sonde/kernel/refusal"
)

// regular is a file in memory. It implements backing.Store, Node and holder.
type regular struct {
	inode
	access access

	bounded sync.Mutex // held by writers with a size limit

	data sync.RWMutex
	// guarded by data:
	pages pages
	size  int64
	users int  // open files and mappings
	dead  bool // it has neither names nor users, and no contents any more

	mapped  atomic.Pointer[Place] // the place by which it was last mapped, for its name
	unnamed atomic.Bool           // made without a name, and may get one

	wasMapped atomic.Bool
}

func (f *FS) newRegular(perm fs.FileMode) *regular {
	r := &regular{pages: pages{fs: f}}
	r.start(perm & permMask)
	return r
}

func (r *regular) Stat() Info {
	i := r.info()
	r.data.RLock()
	defer r.data.RUnlock()
	i.Size = r.size
	i.Blocks = r.pages.held() * (pageSize / 512)
	return i
}

// Open implements Opener.
//
// Errors: Leased, ETXTBSY; errDead: the caller looks the path up again.
func (r *regular) Open(flag int) (Handle, error) {
	if err := r.access.enter(flag); err != nil {
		return nil, err
	}
	if err := r.use(); err != nil {
		r.access.left(flag)
		return nil, err
	}
	if flag&O_TRUNC != 0 {
		r.SetSize(0) // no file is too short
	}
	if flag&accessMask != O_RDONLY {
		return writerHandle{regularHandle{r}}, nil
	}
	return regularHandle{r}, nil
}

// errDead is the error of opening a file that was found before its last name went.
var errDead = refusal.New(syscall.ENOENT, "the file was removed meanwhile")

// use is Hold for a caller that does not know whether there are contents any more.
//
// Errors: errDead.
func (r *regular) use() error {
	r.data.Lock()
	defer r.data.Unlock()
	if r.dead {
		return errDead
	}
	r.users++
	return nil
}

// Hold keeps the contents even if there are no names.
func (r *regular) Hold() {
	r.data.Lock()
	defer r.data.Unlock()
	r.users++
}

// Drop undoes a Hold.
func (r *regular) Drop() {
	r.unhold()
	r.evict()
}

func (r *regular) unhold() {
	r.data.Lock()
	defer r.data.Unlock()
	r.users--
}

// evict frees the contents if the file can no longer be reached.
func (r *regular) evict() {
	r.data.Lock()
	defer r.data.Unlock()
	if r.users == 0 && !r.dead && r.info().Links == 0 {
		r.dead = true
		r.pages.truncate(0)
		r.size = 0
		r.strip()
		ended(r.ino)
	}
}

// SetSize implements Sizer. New bytes are zeroes.
//
// Errors: EFBIG.
func (r *regular) SetSize(size int64) error {
	if size > MaxFile {
		return syscall.EFBIG
	}
	if r.resize(size) {
		r.cutOff(size)
	}
	r.touch()
	return nil
}

// resize sets the size, and reports whether the file has become shorter.
func (r *regular) resize(size int64) (shorter bool) {
	r.data.Lock()
	defer r.data.Unlock()
	if shorter = size < r.size; shorter {
		r.pages.truncate(size)
		r.size = size
	}
	r.reach(size)
	return shorter
}

func (r *regular) extend(size int64) {
	r.data.Lock()
	defer r.data.Unlock()
	r.reach(size)
}

// reach makes the file at least that long. Bytes that a program has written after the end of a
// mapped file do not become part of it. Context: data held.
func (r *regular) reach(size int64) {
	if size > r.size && !r.dead {
		r.pages.clearBehind(r.size)
		r.size = size
	}
}

// write writes at off, or at the end if off is negative, and returns the number of bytes and the
// offset after them.
//
// Errors: EFBIG, ENOSPC, ENOMEM; EBADF if the file has been closed and is gone. If some bytes were
// written before an error, it returns their number and no error.
func (r *regular) write(p []byte, off int64) (n int, end int64, err error) {
	n, end, err = r.put(p, off)
	if n > 0 {
		r.touch()
	}
	return n, end, err
}

func (r *regular) put(p []byte, off int64) (n int, end int64, err error) {
	r.data.Lock()
	defer r.data.Unlock()
	if off < 0 {
		off = r.size
	}
	switch {
	case len(p) == 0: // at any offset
	case r.dead:
		err = syscall.EBADF
	case off >= MaxFile:
		err = syscall.EFBIG
	default:
		if off > r.size {
			r.pages.clearBehind(r.size)
		}
		n, err = r.pages.writeAt(p[:min(int64(len(p)), MaxFile-off)], off)
	}
	end = off + int64(n)
	if n > 0 {
		r.size = max(r.size, end)
		err = nil
	}
	return n, end, err
}

// regularHandle is the handle of a file that was opened for reading only. It is one pointer, so
// that opening a file allocates no memory for it.
type regularHandle struct{ *regular }

// writerHandle is the handle of a file that was opened for writing, too.
type writerHandle struct{ regularHandle }

func (h regularHandle) ReadAt(p []byte, off int64) (int, error) {
	h.data.RLock()
	defer h.data.RUnlock()
	if off >= h.size {
		return 0, io.EOF
	}
	n := min(int64(len(p)), h.size-off)
	h.pages.readAt(p[:n], off)
	return int(n), nil
}

// WriteAt implements Handle. Errors: as write.
func (h regularHandle) WriteAt(p []byte, off int64) (int, error) {
	n, _, err := h.write(p, off)
	return n, err
}

// Append implements Appender. Errors: as write.
func (h regularHandle) Append(p []byte) (int, int64, error) { return h.write(p, -1) }

func (h regularHandle) Close() error {
	h.access.left(O_RDONLY)
	h.Drop()
	return nil
}

func (h writerHandle) Close() error {
	h.access.left(O_WRONLY)
	h.Drop()
	return nil
}

func (r *regular) next(off int64, hole bool) int64 {
	r.data.RLock()
	defer r.data.RUnlock()
	first := off / pageSize
	page := r.pages.next(first, (r.size+pageSize-1)/pageSize, !hole)
	at := max(off, page*pageSize)
	switch {
	case at < r.size:
		return at
	case hole:
		return r.size
	}
	return -1
}
